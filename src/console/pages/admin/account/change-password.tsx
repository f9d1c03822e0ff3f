/** Changes one's own password. */

import { useState } from "preact/hooks";
import { PASSWORD_MAX, PASSWORD_MIN } from "../../../../shared/product/password-length.ts";
import { ApiFailure, api } from "../../../api.ts";
import { accountTexts } from "../../../texts/admin/account.ts";
import { useAction } from "../../../ui/action.ts";
import { Button } from "../../../ui/button.tsx";
import { Form } from "../../../ui/form.tsx";
import { Failure, Notice, sentenceOf } from "../../../ui/notice.tsx";
import { Section } from "../../../ui/page.tsx";
import { Password } from "../../../ui/password.tsx";
import { type PasswordFaults, passwordFaults } from "./faults.ts";

const { password: texts } = accountTexts;

export function ChangePassword({ username }: { readonly username: string }) {
  const [present, setPresent] = useState("");
  const [next, setNext] = useState("");
  const [faults, setFaults] = useState<PasswordFaults>({});
  const [isDone, setDone] = useState(false);
  const work = useAction(async () => {
    setDone(false);
    const found = passwordFaults({ username, present, next }, texts);
    setFaults(found);
    if (Object.keys(found).length > 0) return;
    try {
      await api("POST /auth/admin/password", { body: { password: present, new_password: next } });
    } catch (failure) {
      const fault = faultOf(failure);
      if (fault === undefined) throw failure;
      return setFaults(fault);
    }
    setPresent("");
    setNext("");
    setDone(true);
  });
  const isLocked = work.failure instanceof ApiFailure && work.failure.reason === "login.locked";
  return (
    <Section title={texts.title}>
      <p>{texts.lead}</p>
      {isDone ? (
        <Notice kind="good">
          <p>{texts.done}</p>
        </Notice>
      ) : null}
      <Form onSubmit={() => void work.run()}>
        {/* For the browser's store of passwords. */}
        <input
          class="hidden"
          type="text"
          name="username"
          autocomplete="username"
          value={username}
          readOnly
          tabIndex={-1}
          aria-hidden="true"
        />
        <Password
          label={texts.present}
          name="present"
          autocomplete="current-password"
          required
          value={present}
          onValue={setPresent}
          error={faults.present}
        />
        <Password
          label={texts.next}
          hint={<Rules />}
          name="next"
          autocomplete="new-password"
          required
          value={next}
          onValue={setNext}
          error={faults.next}
        />
        {isLocked ? (
          <Notice kind="bad" title={texts.lockedTitle}>
            <p>{texts.locked}</p>
            <p>{sentenceOf(work.failure)}</p>
          </Notice>
        ) : (
          <Failure failure={work.failure} />
        )}
        <p class="actions">
          <Button type="submit" kind="primary" busy={work.busy && texts.busy}>
            {texts.submit}
          </Button>
        </p>
      </Form>
    </Section>
  );
}

function Rules() {
  return (
    <>
      {texts.rules}
      <ul>
        <li>{texts.rule.length(PASSWORD_MIN, PASSWORD_MAX)}</li>
        <li>{texts.rule.name}</li>
        <li>{texts.rule.common}</li>
      </ul>
    </>
  );
}

/** A refusal that is about one of the fields. */
function faultOf(failure: unknown): PasswordFaults | undefined {
  if (!(failure instanceof ApiFailure)) return undefined;
  if (failure.reason === "password.wrong") return { present: texts.wrong };
  // The service says which of its rules it is.
  return failure.reason === "password.weak" ? { next: sentenceOf(failure) } : undefined;
}
