/** Renames a passkey, or removes it once it was said what that does. */

import { useState } from "preact/hooks";
import { type AnswerOf, api } from "../../../api.ts";
import { forgetAnswers } from "../../../signed-in.tsx";
import { factorsTexts } from "../../../texts/admin/factors.ts";
import { useAction } from "../../../ui/action.ts";
import { Input } from "../../../ui/field.tsx";
import { FormDialog } from "../../../ui/form-dialog.tsx";
import { isolated } from "../../../ui/isolated.ts";
import type { DialogProps } from "../../../ui/use-dialog.ts";
import { isPasskeyName } from "./add-passkey.tsx";
import { ConfirmedDialog } from "./confirm.tsx";

export type Passkey = AnswerOf<"GET /auth/passkeys">["items"][number];

interface ChangeProps extends DialogProps {
  readonly passkey: Passkey;
}

const { add, rename, remove } = factorsTexts;

export function RenamePasskey({ passkey: { id, name: before }, onClose, onDone }: ChangeProps) {
  const [name, setName] = useState(before);
  const [wrong, setWrong] = useState<string>();
  const work = useAction(async () => {
    setWrong(isPasskeyName(name) ? undefined : add.nameError);
    if (!isPasskeyName(name)) return;
    await api("PATCH /auth/passkeys/:id", { params: { id }, body: { name: name.trim() } });
    await forgetAnswers();
    onDone(rename.done(isolated(name.trim())));
  });
  return (
    <FormDialog title={rename.title} work={work} onClose={onClose} texts={rename}>
      <Input
        label={add.name}
        hint={add.nameHint}
        error={wrong}
        name="passkey-name"
        autocomplete="off"
        required
        value={name}
        onValue={setName}
      />
    </FormDialog>
  );
}

export function RemovePasskey({ passkey: { id, name }, onClose, onDone }: ChangeProps) {
  return (
    <ConfirmedDialog
      title={remove.title(isolated(name))}
      act={async (confirmed) => {
        const removed = await confirmed((body) => api("DELETE /auth/passkeys/:id", { params: { id }, body }));
        if (removed === undefined) return;
        await forgetAnswers();
        onDone(remove.done(isolated(name)));
      }}
      onClose={onClose}
      texts={remove}
      isDanger
    >
      <p>{remove.text}</p>
    </ConfirmedDialog>
  );
}
