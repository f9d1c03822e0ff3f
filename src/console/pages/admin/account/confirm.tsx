/** Shows again who one is, before something is added that one can log in with: the present password, or a passkey. */

import { useState } from "preact/hooks";
import { ApiFailure, api, type BodyOf } from "../../../api.ts";
import { hasPasskeys, usePasskey } from "../../../passkey.ts";
import { factorsTexts } from "../../../texts/admin-factors.ts";
import { Button } from "../../../ui/button.tsx";
import { Password } from "../../../ui/password.tsx";

export type Confirmation = BodyOf<"POST /auth/passkeys/begin">;

const { confirm: texts } = factorsTexts;

/** What was typed, and how it becomes a confirmation. */
export interface Confirming {
  readonly password: string;
  readonly setPassword: (password: string) => void;
  readonly error: string | undefined;
  /**
   * Does `work` with the confirmation: by a passkey where that was asked for, else by what was typed. Returns undefined where there is nothing to
   * do it with, or it is wrong; the field says so.
   */
  run<T>(by: "password" | "passkey", work: (confirmation: Confirmation) => Promise<T>): Promise<T | undefined>;
}

export function useConfirming(): Confirming {
  const [password, setPassword] = useState("");
  const [error, setError] = useState<string>();
  return {
    ...{ password, setPassword, error },
    run: async (by, work) => {
      setError(by === "password" && password === "" ? texts.missing : undefined);
      if (by === "password" && password === "") return undefined;
      try {
        return await work(by === "password" ? { password } : await byPasskey());
      } catch (failure) {
        if (!(failure instanceof ApiFailure && failure.reason === "password.wrong")) throw failure;
        setError(texts.wrong);
        return undefined;
      }
    },
  };
}

async function byPasskey(): Promise<Confirmation> {
  const { passkey } = await api("GET /auth/passkeys/challenge");
  return passkey === null ? {} : { passkey: await usePasskey(passkey) };
}

interface ConfirmProps {
  readonly confirming: Confirming;
  /** Goes on with a passkey; undefined for one who has none. */
  readonly onPasskey: (() => void) | undefined;
}

/** The field, and the way without it. */
export function Confirm({ confirming, onPasskey }: ConfirmProps) {
  const { password, setPassword, error } = confirming;
  return (
    <>
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
      {onPasskey !== undefined && hasPasskeys() ? (
        <p>
          <Button onClick={onPasskey}>{texts.withPasskey}</Button>
        </p>
      ) : null}
    </>
  );
}
