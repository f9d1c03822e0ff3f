/** The second step of an administrator's login, after the right password: a passkey, or a code of an app. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { AnswerOf, BodyOf } from "../../../api.ts";
import { hasPasskeys, usePasskey } from "../../../passkey.ts";
import { publicTexts } from "../../../texts/public.ts";
import { useAction } from "../../../ui/action.ts";
import { announce } from "../../../ui/announce.tsx";
import { Button } from "../../../ui/button.tsx";
import { Input } from "../../../ui/field.tsx";
import { Form } from "../../../ui/form.tsx";
import { Refusal, reasonOf } from "../refusal.tsx";

/** The second factor sent beside a password. */
export type Proof = Pick<BodyOf<"POST /auth/admin/login">, "code" | "passkey">;

interface SecondStepProps {
  readonly name: string;
  /** The proofs that the service accepts. */
  readonly step: AnswerOf<"POST /auth/admin/second">;
  /** Logs in with the password and this beside it. */
  readonly onProof: (proof: Proof) => Promise<void>;
  readonly onAgain: () => void;
}

export function SecondStep({ name, step, onProof, onAgain }: SecondStepProps) {
  const { second: texts, login, passkey } = publicTexts;
  const { passkey: request, totp } = step;
  const [code, setCode] = useState("");
  const [wrong, setWrong] = useState<string>();
  const place = useRef<HTMLDivElement>(null);
  const lead = texts.lead(name);
  useEffect(() => {
    announce(lead);
    const first = place.current?.querySelector("button, input");
    if (first instanceof HTMLElement) first.focus();
  }, []);
  const using = useAction(async () => {
    if (request !== null) await onProof({ passkey: await usePasskey(request) });
  });
  const sending = useAction(async () => {
    const digits = code.replace(/[\s\p{Dash}]/gu, "");
    setWrong(/^\d{6}$/.test(digits) ? undefined : texts.codeMissing);
    if (!/^\d{6}$/.test(digits)) return;
    try {
      await onProof({ code: digits });
    } catch (error) {
      if (reasonOf(error) !== "login.code_wrong") throw error;
      setWrong(texts.codeWrong);
    }
  });
  return (
    <div ref={place} class="form">
      <p>{lead}</p>
      {request === null || !hasPasskeys() ? null : (
        <p class="actions">
          <Button kind="primary" busy={using.busy && passkey.waiting} onClick={() => void using.run()}>
            {texts.passkey}
          </Button>
        </p>
      )}
      <Refusal failure={using.failure} />
      {totp ? (
        <Form onSubmit={() => void sending.run()}>
          <Input
            label={texts.code}
            hint={texts.codeHint}
            name="code"
            inputMode="numeric"
            autocomplete="one-time-code"
            required
            value={code}
            onValue={setCode}
            error={wrong}
          />
          <Refusal failure={sending.failure} />
          <p class="actions">
            <Button type="submit" kind="primary" busy={sending.busy && login.submitting}>
              {login.submit}
            </Button>
          </p>
        </Form>
      ) : null}
      <p>
        <Button onClick={onAgain}>{texts.again}</Button>
      </p>
    </div>
  );
}
