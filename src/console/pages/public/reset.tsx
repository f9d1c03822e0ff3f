/** The page behind an administrator's mailed link: a new password. The token is in the fragment, and leaves the address at once. */

import { useEffect, useState } from "preact/hooks";
import { PAGES } from "../../../shared/product/pages.ts";
import { PASSWORD_MAX, PASSWORD_MIN } from "../../../shared/product/password-length.ts";
import { ApiFailure, api } from "../../api.ts";
import { useSession } from "../../session.tsx";
import { reset } from "../../texts/password-reset.ts";
import { useAction } from "../../ui/action.ts";
import { Button } from "../../ui/button.tsx";
import { Form } from "../../ui/form.tsx";
import { Notice, sentenceOf } from "../../ui/notice.tsx";
import { Page } from "../../ui/page.tsx";
import { Password } from "../../ui/password.tsx";
import { useFragment } from "./fragment.ts";
import { loginUrl } from "./login/ways.ts";
import { passwordFault } from "./new-password.ts";
import { Outcome } from "./outcome.tsx";
import { Refusal, reasonOf } from "./refusal.tsx";

type State = "open" | "spent" | "done";

export function Reset() {
  const token = useFragment(tokenOf);
  const [state, setState] = useState<State>("open");
  // Another link may be opened in this tab.
  useEffect(() => setState("open"), [token]);
  return (
    <Page title={reset.title}>
      {state !== "open" ? (
        <Outcome>{state === "done" ? <Done /> : <Unusable isSpent />}</Outcome>
      ) : token === undefined ? (
        <Unusable isSpent={false} />
      ) : (
        <NewPassword token={token} onState={setState} />
      )}
    </Page>
  );
}

/** The token of `#TOKEN`; the link to the content is none. */
function tokenOf(fragment: string): string | undefined {
  const token = fragment.replace(/^#/, "");
  return /^[\w-]{20,200}$/.test(token) ? token : undefined;
}

interface NewPasswordProps {
  readonly token: string;
  readonly onState: (state: State) => void;
}

function NewPassword({ token, onState }: NewPasswordProps) {
  const { refresh } = useSession();
  const [password, setPassword] = useState("");
  const [error, setError] = useState<string>();
  const setting = useAction(async () => {
    const fault = passwordFault(password);
    setError(fault);
    if (fault !== undefined) return;
    try {
      await api("POST /auth/admin/reset", { body: { token, new_password: password } });
    } catch (failure) {
      if (reasonOf(failure) === "reset.wrong") return onState("spent");
      if (!(failure instanceof ApiFailure && failure.status === 400)) throw failure;
      // The service says which of its rules it is.
      return setError(sentenceOf(failure));
    }
    // A session of that administrator in this browser has ended too.
    refresh();
    onState("done");
  });
  return (
    <Form class="form card" onSubmit={() => void setting.run()}>
      <div>
        <p>
          <strong>{reset.rules}</strong>
        </p>
        <ul>
          <li>{reset.rule.length(PASSWORD_MIN, PASSWORD_MAX)}</li>
          <li>{reset.rule.name}</li>
          <li>{reset.rule.common}</li>
        </ul>
      </div>
      <Password
        label={reset.label}
        name="password"
        autocomplete="new-password"
        required
        value={password}
        onValue={setPassword}
        error={error}
      />
      <Refusal failure={setting.failure} />
      <p class="actions">
        <Button type="submit" kind="primary" busy={setting.busy && reset.submitting}>
          {reset.submit}
        </Button>
      </p>
    </Form>
  );
}

function Done() {
  return (
    <Notice kind="good" title={reset.doneTitle}>
      <p>{reset.done}</p>
      <a class="button primary" href={loginUrl({ as: "admin" }, {})}>
        {reset.logIn}
      </a>
    </Notice>
  );
}

function Unusable({ isSpent }: { readonly isSpent: boolean }) {
  return (
    <Notice kind="warn" title={isSpent ? reset.spentTitle : reset.noneTitle}>
      <p>{isSpent ? reset.spent : reset.none}</p>
      <a class="button" href={PAGES.forgot}>
        {reset.another}
      </a>
    </Notice>
  );
}
