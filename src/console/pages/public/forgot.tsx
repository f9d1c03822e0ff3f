/** An administrator who has forgotten the password: a link to set another one is mailed. */

import { useState } from "preact/hooks";
import { api } from "../../api.ts";
import { forgot } from "../../texts/password-reset.ts";
import { publicTexts } from "../../texts/public.ts";
import { useAction } from "../../ui/action.ts";
import { Button } from "../../ui/button.tsx";
import { Form } from "../../ui/form.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Page } from "../../ui/page.tsx";
import { loginUrl } from "./login/ways.ts";
import { NameField } from "./name-field.tsx";
import { Refusal } from "./refusal.tsx";

export function Forgot() {
  const [username, setUsername] = useState("");
  const [error, setError] = useState<string>();
  const [isSent, setSent] = useState(false);
  const { login } = publicTexts;
  const asking = useAction(async () => {
    setSent(false);
    const isMissing = username.trim() === "";
    setError(isMissing ? login.nameMissing : undefined);
    if (isMissing) return;
    await api("POST /auth/admin/forgot", { body: { username: username.trim().toLowerCase() } });
    setSent(true);
  });
  return (
    <Page title={forgot.title}>
      <p class="lead">{forgot.lead}</p>
      <Form class="form card" onSubmit={() => void asking.run()}>
        <NameField value={username} onValue={setUsername} error={error} />
        <Refusal failure={asking.failure} />
        {isSent ? (
          <Notice kind="good" title={forgot.sentTitle}>
            <p>{forgot.sent}</p>
          </Notice>
        ) : null}
        <p class="actions">
          <Button type="submit" kind="primary" busy={asking.busy && forgot.submitting}>
            {forgot.submit}
          </Button>
          <a href={loginUrl({ as: "admin" }, {})}>{forgot.back}</a>
        </p>
      </Form>
    </Page>
  );
}
