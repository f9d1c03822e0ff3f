/** One's own authenticator app. */

import { useState } from "preact/hooks";
import { type AnswerOf, api } from "../../../api.ts";
import { useSession } from "../../../session.tsx";
import { forgetAnswers } from "../../../signed-in.tsx";
import { factorsTexts } from "../../../texts/admin/factors.ts";
import { useAction } from "../../../ui/action.ts";
import { Button } from "../../../ui/button.tsx";
import { Copyable } from "../../../ui/copy.tsx";
import { Input } from "../../../ui/field.tsx";
import { FormDialog } from "../../../ui/form-dialog.tsx";
import { Section } from "../../../ui/page.tsx";
import { Time } from "../../../ui/time.tsx";
import { type DialogProps, useDialog } from "../../../ui/use-dialog.ts";
import { Loaded, useApi } from "../../../use-api.tsx";
import { Done, useDone } from "../done.tsx";
import { ConfirmedDialog } from "./confirm.tsx";

const { app: texts, passkeys } = factorsTexts;

type Secret = AnswerOf<"POST /auth/totp/begin">;

export function AuthenticatorApp() {
  const answer = useApi("GET /auth/totp");
  const done = useDone();
  const { open, start, props: dialog } = useDialog<"set up" | "remove">(done.tell);
  return (
    <Section title={texts.title}>
      <p>{texts.lead}</p>
      <Done what={done.what} />
      <Loaded query={answer}>
        {({ added, created_at: at, last_used_at: used }) => (
          <>
            {added && at !== null ? (
              <p>
                {texts.since} <Time at={at} />. {texts.used} {used === null ? passkeys.never : <Time at={used} />}.
              </p>
            ) : (
              <p class="empty">{texts.none}</p>
            )}
            <p class="actions">
              {added ? (
                <Button kind="danger" onClick={() => start("remove")}>
                  {texts.removing.open}
                </Button>
              ) : (
                <Button onClick={() => start("set up")}>{texts.open}</Button>
              )}
            </p>
          </>
        )}
      </Loaded>
      {open === "set up" ? <SetUp {...dialog} /> : null}
      {open === "remove" ? <Remove {...dialog} /> : null}
    </Section>
  );
}

/** First who one is, then the secret and the first code. */
function SetUp({ onClose, onDone }: DialogProps) {
  const [secret, setSecret] = useState<Secret>();
  if (secret !== undefined) return <Scan {...{ secret, onClose, onDone }} />;
  return (
    <ConfirmedDialog
      title={texts.begin.title}
      act={async (confirmed) => {
        setSecret(await confirmed((body) => api("POST /auth/totp/begin", { body })));
      }}
      onClose={onClose}
      texts={texts.begin}
    />
  );
}

function Scan({ secret, onClose, onDone }: DialogProps & { readonly secret: Secret }) {
  const { refresh } = useSession();
  const [code, setCode] = useState("");
  const [wrong, setWrong] = useState<string>();
  const { scan } = texts;
  const work = useAction(async () => {
    const digits = code.replace(/[\s\p{Dash}]/gu, "");
    setWrong(/^\d{6}$/.test(digits) ? undefined : scan.missing);
    if (!/^\d{6}$/.test(digits)) return;
    await api("POST /auth/totp", { body: { ticket: secret.ticket, code: digits } });
    await forgetAnswers();
    // It may have been what the session still needed.
    refresh();
    onDone(texts.done);
  });
  return (
    <FormDialog title={scan.title} work={work} onClose={onClose} texts={scan}>
      <p>
        <img
          class="scan"
          src={`data:image/svg+xml,${encodeURIComponent(secret.picture)}`}
          alt={scan.picture}
          width="240"
          height="240"
        />
      </p>
      <p>{scan.text}</p>
      <Copyable text={secret.secret} label={scan.label} />
      <Input
        label={scan.code}
        hint={scan.codeHint}
        error={wrong}
        name="code"
        inputMode="numeric"
        autocomplete="one-time-code"
        required
        value={code}
        onValue={setCode}
      />
    </FormDialog>
  );
}

function Remove({ onClose, onDone }: DialogProps) {
  const { removing } = texts;
  return (
    <ConfirmedDialog
      title={removing.title}
      act={async (confirmed) => {
        const removed = await confirmed((body) => api("DELETE /auth/totp", { body }));
        if (removed === undefined) return;
        await forgetAnswers();
        onDone(removing.done);
      }}
      onClose={onClose}
      texts={removing}
      isDanger
    >
      <p>{removing.text}</p>
    </ConfirmedDialog>
  );
}
