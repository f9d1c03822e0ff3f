/** The first step of an external user's login: for which name a code is mailed. */

import { useEffect, useState } from "preact/hooks";
import { api } from "../../../api.ts";
import { publicTexts } from "../../../texts/public.ts";
import { useAction } from "../../../ui/action.ts";
import { Button } from "../../../ui/button.tsx";
import { Form } from "../../../ui/form.tsx";
import { NameField } from "../name-field.tsx";
import { Refusal, reasonOf, type Saying } from "../refusal.tsx";
import { CheckView, useHumanCheck } from "./check-view.tsx";
import { type CheckAnswer, type HumanCheck, PictureNeeded } from "./human-check.ts";
import { nameOf } from "./ways.ts";

interface NameStepProps {
  readonly name: string;
  readonly onName: (name: string) => void;
  /** A code was asked for. */
  readonly onSent: (name: string) => void;
  /** There is a code already. */
  readonly onHave: () => void;
}

interface Errors {
  readonly name?: string;
  readonly picture?: string;
}

export function NameStep({ name, onName, onSent, onHave }: NameStepProps) {
  const { check, state } = useHumanCheck();
  const [read, setRead] = useState("");
  const [errors, setErrors] = useState<Errors>({});
  // A mailed link brings the name along.
  useEffect(() => {
    if (name !== "") check.start();
  }, [check]);
  const sending = useAction(async () => {
    const username = nameOf(name);
    setErrors(username === undefined ? { name: nameFault(name) } : {});
    if (username === undefined) return;
    const answer = await answerOf(check, read, (picture) => setErrors({ picture }));
    if (answer === undefined) return;
    try {
      await askForCode(check, username, answer);
    } catch (error) {
      setRead("");
      check.spend();
      if (!isMisread(error, check)) throw error;
      setErrors({ picture: publicTexts.check.wrong });
      return;
    }
    onSent(username);
  });
  const { code } = publicTexts;
  const isChecking = state.kind === "fetching" || state.kind === "working";
  return (
    <Form onSubmit={() => void sending.run()}>
      <NameField
        hint={code.nameHint}
        value={name}
        onValue={(typed) => {
          onName(typed);
          if (typed.trim() !== "") check.start();
        }}
        error={errors.name}
      />
      <CheckView check={check} state={state} read={read} onRead={setRead} error={errors.picture} />
      <Refusal failure={sending.failure} saying={sayingOf(sending.failure)} />
      <p class="actions">
        <Button type="submit" kind="primary" busy={sending.busy && (isChecking ? code.checkingFirst : code.sending)}>
          {code.send}
        </Button>
        <Button onClick={onHave}>{code.have}</Button>
      </p>
    </Form>
  );
}

/** The result of the check; undefined if the picture has to be read, or if there is no task, which the check itself shows. */
async function answerOf(
  check: HumanCheck,
  read: string,
  onPicture: (fault: string) => void,
): Promise<CheckAnswer | undefined> {
  const { check: texts } = publicTexts;
  try {
    return await check.answer(read);
  } catch (error) {
    if (error instanceof PictureNeeded) onPicture(error.isNew ? texts.wasOld : texts.readIt);
    return undefined;
  }
}

/** Asks for a code. If the browser's work came too late, it is done once more: nobody need know. */
async function askForCode(check: HumanCheck, username: string, answer: CheckAnswer): Promise<void> {
  try {
    await api("POST /auth/otp/send", { body: { username, ...answer } });
  } catch (error) {
    if (reasonOf(error) !== "captcha.wrong" || !check.isByProof()) throw error;
    check.renew();
    await api("POST /auth/otp/send", { body: { username, ...(await check.answer("")) } });
  }
}

function isMisread(error: unknown, check: HumanCheck): boolean {
  return error instanceof PictureNeeded || (reasonOf(error) === "captcha.wrong" && !check.isByProof());
}

function nameFault(typed: string): string {
  const { login } = publicTexts;
  if (typed.trim() === "") return login.nameMissing;
  return typed.includes("@") ? login.nameIsAddress : login.nameStrange;
}

function sayingOf(failure: unknown): Saying | undefined {
  const { code } = publicTexts;
  if (reasonOf(failure) === "code.cooldown") return { text: code.cooling };
  return reasonOf(failure) === "login.locked" ? { title: code.lockedTitle, text: code.locked } : undefined;
}
