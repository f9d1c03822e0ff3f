/** Giving a key another name. */

import { useState } from "preact/hooks";
import { api } from "../../../api.ts";
import { MAX_NAME, nameFaultOf } from "../../../keys/key-name.ts";
import { privateFormatOf } from "../../../keys/private-key.ts";
import { forgetAnswers } from "../../../signed-in.tsx";
import { userTexts } from "../../../texts/user/user.ts";
import { useAction } from "../../../ui/action.ts";
import { Input } from "../../../ui/field.tsx";
import { FormDialog } from "../../../ui/form-dialog.tsx";
import { isolated } from "../../../ui/isolated.ts";
import { Typed } from "../../../ui/typed.tsx";
import type { DialogProps } from "../../../ui/use-dialog.ts";
import type { OwnKey } from "../own-account.ts";

interface RenameKeyProps extends DialogProps {
  readonly target: OwnKey;
}

export function RenameKey({ target, onClose, onDone }: RenameKeyProps) {
  const { rename, faults } = userTexts.keys;
  const [name, setName] = useState(target.name);
  const [fault, setFault] = useState<string>();
  const work = useAction(async () => {
    const format = privateFormatOf(name);
    if (format !== undefined) setName("");
    const wrong = format === undefined ? nameFaultOf(name) : faults.text({ kind: "private", format });
    setFault(wrong);
    if (wrong !== undefined) return;
    if (name.trim() === target.name) return onClose();
    await api("PATCH /me/keys/:id", { params: { id: target.id }, body: { name: name.trim() } });
    await forgetAnswers();
    onDone(rename.done(isolated(name.trim())));
  });
  return (
    <FormDialog title={rename.title} {...{ work, onClose }} texts={rename}>
      <p>
        <Typed text={target.name} /> <code class="quiet">{target.fingerprint}</code>
      </p>
      <Input
        label={rename.field}
        hint={rename.hint}
        error={fault}
        value={name}
        onValue={setName}
        name="key-name"
        autocomplete="off"
        maxLength={MAX_NAME * 2}
        required
      />
    </FormDialog>
  );
}
