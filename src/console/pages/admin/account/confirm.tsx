/** Shows again who one is, before a login is made longer or weaker, or somebody let in: the current password, or a passkey. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { ApiFailure, api, type BodyOf, searchOf } from "../../../api.ts";
import { hasPasskeys, usePasskey } from "../../../passkey.ts";
import { factorsTexts } from "../../../texts/admin/factors.ts";
import { useAction } from "../../../ui/action.ts";
import { Button } from "../../../ui/button.tsx";
import { FormDialog } from "../../../ui/form-dialog.tsx";
import { Password } from "../../../ui/password.tsx";
import { useApi } from "../../../use-api.tsx";

type Confirmation = BodyOf<"POST /auth/passkeys/begin">;
type Means = "password" | "passkey" | "login";

const { confirm: texts } = factorsTexts;

/** Where a login at the provider begins; it leads back to the page. */
const LOG_IN_AGAIN = "/api/v1/auth/oidc/login";

/**
 * Does `work` with what confirms it. Returns undefined where there is nothing to confirm with, or it is wrong; the dialog says so.
 */
export type Confirmed = <T>(work: (confirmation: Confirmation) => Promise<T>) => Promise<T | undefined>;

interface ConfirmedDialogProps {
  readonly title: string;
  /** Called once the form is sent; requests that need the confirmation go through `confirmed`. */
  readonly act: (confirmed: Confirmed) => Promise<void>;
  readonly onClose: () => void;
  readonly texts: { readonly submit: string; readonly busy: string };
  readonly isDanger?: boolean;
  /** Whether there is anything to confirm; if not, only what the form holds is sent. */
  readonly isAsked?: boolean;
  /** How a failure is said, where it is not as usual. */
  readonly failure?: (failure: unknown) => ComponentChildren;
  readonly children?: ComponentChildren;
}

/** A dialog whose form ends with the question who one is. */
export function ConfirmedDialog({ act, failure, children, isAsked = true, ...rest }: ConfirmedDialogProps) {
  const [password, setPassword] = useState("");
  const [error, setError] = useState<string>();
  const ways = useApi("GET /auth/passkeys/challenge").data;
  const hasPasskey = (ways?.passkey ?? null) !== null;
  // Of nearly everybody, so that nothing moves once it is known.
  const hasPassword = ways?.password ?? true;

  // One action, however it is confirmed: the dialog stays while it is going on.
  const work = useAction(async (means: Means) => {
    setError(undefined);
    await act(async (ask) => {
      const isMissing = means === "password" && password === "";
      if (isMissing) setError(texts.missing);
      if (isMissing) return undefined;
      try {
        return await ask(means === "password" ? { password } : means === "passkey" ? await byPasskey() : {});
      } catch (refused) {
        if (!(refused instanceof ApiFailure && refused.reason === "password.wrong")) throw refused;
        setError(texts.wrong);
        return undefined;
      }
    });
  });
  // "login" also stands for sending nothing along.
  const usual: Means = !isAsked ? "login" : hasPassword ? "password" : hasPasskey ? "passkey" : "login";
  return (
    <FormDialog
      {...rest}
      work={{ ...work, run: () => work.run(usual) }}
      failure={failure === undefined ? undefined : failure(work.failure)}
    >
      {children}
      {isAsked && hasPassword ? (
        <Password
          label={texts.password}
          hint={texts.passwordHint}
          name="present"
          autocomplete="current-password"
          required
          value={password}
          onValue={setPassword}
          error={error}
        />
      ) : null}
      {isAsked && hasPassword && hasPasskey && hasPasskeys() ? (
        <p>
          <Button onClick={() => void work.run("passkey")}>{texts.withPasskey}</Button>
        </p>
      ) : null}
      {usual === "passkey" ? <p class="hint">{texts.onlyPasskey}</p> : null}
      {isAsked && usual === "login" ? (
        <>
          <p class="hint">{texts.onlyLogin}</p>
          <p>
            <Button onClick={logInAgain}>{texts.logInAgain}</Button>
          </p>
        </>
      ) : null}
    </FormDialog>
  );
}

function logInAgain(): void {
  location.assign(LOG_IN_AGAIN + searchOf({ next: location.pathname }));
}

async function byPasskey(): Promise<Confirmation> {
  const { passkey } = await api("GET /auth/passkeys/challenge");
  return passkey === null ? {} : { passkey: await usePasskey(passkey) };
}
