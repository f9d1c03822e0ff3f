/** Adds a passkey: a name, who one is, and then the device asks. */

import { useState } from "preact/hooks";
import { api } from "../../../api.ts";
import { makePasskey } from "../../../passkey.ts";
import { useSession } from "../../../session.tsx";
import { forgetAnswers } from "../../../signed-in.tsx";
import { factorsTexts } from "../../../texts/admin/factors.ts";
import { Input } from "../../../ui/field.tsx";
import { isolated } from "../../../ui/isolated.ts";
import type { DialogProps } from "../../../ui/use-dialog.ts";
import { type Confirmed, ConfirmedDialog } from "./confirm.tsx";

const { add: texts } = factorsTexts;

export function AddPasskey({ onClose, onDone }: DialogProps) {
  const { refresh } = useSession();
  const [name, setName] = useState("");
  const [wrong, setWrong] = useState<string>();
  const add = async (confirmed: Confirmed) => {
    const isName = isPasskeyName(name);
    setWrong(isName ? undefined : texts.nameError);
    if (!isName) return;
    const creation = await confirmed((body) => api("POST /auth/passkeys/begin", { body }));
    if (creation === undefined) return;
    const passkey = await makePasskey(creation);
    await api("POST /auth/passkeys", { body: { name: name.trim(), passkey } });
    await forgetAnswers();
    // It may have been what the session still needed.
    refresh();
    onDone(texts.done(isolated(name.trim())));
  };
  return (
    <ConfirmedDialog title={texts.title} act={add} onClose={onClose} texts={{ submit: texts.submit, busy: texts.busy }}>
      <Input
        label={texts.name}
        hint={texts.nameHint}
        error={wrong}
        name="passkey-name"
        autocomplete="off"
        required
        value={name}
        onValue={setName}
      />
    </ConfirmedDialog>
  );
}

/** The most characters that a passkey's name may have. */
const MAX_NAME = 64;

/** Whether the text can be a passkey's name, as far as it can be told here. */
export function isPasskeyName(text: string): boolean {
  const { length } = [...text.trim()];
  return length >= 1 && length <= MAX_NAME;
}
