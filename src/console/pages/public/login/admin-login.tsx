/** An administrator's login: name and password. */

import { useState } from "preact/hooks";
import { PAGES } from "../../../../shared/pages.ts";
import { ApiFailure, api } from "../../../api.ts";
import type { Principal } from "../../../session.tsx";
import { common } from "../../../texts/common.ts";
import { publicTexts } from "../../../texts/public.ts";
import { useAction } from "../../../ui/action.ts";
import { Button } from "../../../ui/button.tsx";
import { Form } from "../../../ui/form.tsx";
import { Password } from "../../../ui/password.tsx";
import { NameField } from "../name-field.tsx";
import { Refusal, reasonOf, type Saying } from "../refusal.tsx";

interface Errors {
  readonly name?: string;
  readonly password?: string;
}

export function AdminLogin({ onEntered }: { readonly onEntered: (principal: Principal) => void }) {
  const [username, setUsername] = useState("");
  const [password, setPassword] = useState("");
  const [errors, setErrors] = useState<Errors>({});
  const { login, password: texts } = publicTexts;
  const entering = useAction(async () => {
    const faults = {
      ...(username.trim() === "" ? { name: login.nameMissing } : {}),
      ...(password === "" ? { password: texts.missing } : {}),
    };
    setErrors(faults);
    if (Object.keys(faults).length > 0) return;
    try {
      onEntered(await api("POST /auth/admin/login", { body: { username: username.trim().toLowerCase(), password } }));
    } catch (error) {
      if (!(error instanceof ApiFailure && error.status === 401)) throw error;
      setErrors({ password: common.reasons["login.wrong"] ?? "" });
    }
  });
  return (
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
