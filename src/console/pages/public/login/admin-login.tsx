/** An administrator's login: name and password, with a second step for those who have one; or a passkey and nothing else. */

import { useState } from "preact/hooks";
import { PAGES } from "../../../../shared/product/pages.ts";
import { type AnswerOf, ApiFailure, api } from "../../../api.ts";
import { hasPasskeys, usePasskey } from "../../../passkey.ts";
import type { Principal } from "../../../session.tsx";
import { common } from "../../../texts/common.ts";
import { publicTexts } from "../../../texts/public.ts";
import { useAction } from "../../../ui/action.ts";
import { Button } from "../../../ui/button.tsx";
import { Form } from "../../../ui/form.tsx";
import { Password } from "../../../ui/password.tsx";
import { NameField } from "../name-field.tsx";
import { Refusal, reasonOf, type Saying } from "../refusal.tsx";
import { type Proof, SecondStep } from "./second-step.tsx";

interface Errors {
  readonly name?: string;
  readonly password?: string;
}

export function AdminLogin({ onEntered }: { readonly onEntered: (principal: Principal) => void }) {
  const [username, setUsername] = useState("");
  const [password, setPassword] = useState("");
  const [errors, setErrors] = useState<Errors>({});
  const [second, setSecond] = useState<AnswerOf<"POST /auth/admin/second">>();
  const { login, password: texts } = publicTexts;
  const typed = { username: username.trim().toLowerCase(), password };
  const enter = async (proof: Proof) =>
    onEntered(await api("POST /auth/admin/login", { body: { ...typed, ...proof } }));
  const entering = useAction(async () => {
    const faults = {
      ...(username.trim() === "" ? { name: login.nameMissing } : {}),
      ...(password === "" ? { password: texts.missing } : {}),
    };
    setErrors(faults);
    if (Object.keys(faults).length > 0) return;
    try {
      await enter({});
    } catch (error) {
      if (reasonOf(error) === "login.second_factor") {
        return setSecond(await api("POST /auth/admin/second", { body: typed }));
      }
      if (!(error instanceof ApiFailure && error.reason === "login.wrong")) throw error;
      setErrors({ password: common.reasons["login.wrong"] ?? "" });
    }
  });
  if (second !== undefined) {
    return <SecondStep name={typed.username} step={second} onProof={enter} onAgain={() => setSecond(undefined)} />;
  }
  return (
    <>
      <Form onSubmit={() => void entering.run()}>
        <NameField value={username} onValue={setUsername} error={errors.name} />
        <Password
          label={texts.label}
          name="password"
          autocomplete="current-password"
          required
          value={password}
          onValue={setPassword}
          error={errors.password}
        />
        <Refusal failure={entering.failure} saying={sayingOf(entering.failure)} />
        <p class="actions">
          <Button type="submit" kind="primary" busy={entering.busy && login.submitting}>
            {login.submit}
          </Button>
          <a href={PAGES.forgot}>{texts.forgot}</a>
        </p>
      </Form>
      {hasPasskeys() ? <PasskeyLogin onEntered={onEntered} /> : null}
    </>
  );
}

/** The whole login by a passkey; the browser shows which ones it has. */
function PasskeyLogin({ onEntered }: { readonly onEntered: (principal: Principal) => void }) {
  const { passkey: texts } = publicTexts;
  const entering = useAction(async () => {
    const passkey = await usePasskey(await api("GET /auth/passkey/challenge"));
    onEntered(await api("POST /auth/passkey/login", { body: { passkey } }));
  });
  return (
    <div class="form">
      <p class="hint">{texts.or}</p>
      <p class="actions">
        <Button busy={entering.busy && texts.waiting} onClick={() => void entering.run()}>
          {texts.logIn}
        </Button>
      </p>
      <Refusal failure={entering.failure} />
    </div>
  );
}

function sayingOf(failure: unknown): Saying | undefined {
  const { password: texts } = publicTexts;
  if (reasonOf(failure) !== "login.locked") return undefined;
  const more = (
    <p>
      <a href={PAGES.forgot}>{texts.unlock}</a>, {texts.unlockHint}
    </p>
  );
  return { title: texts.lockedTitle, text: texts.locked, more };
}
