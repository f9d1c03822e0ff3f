/** Deleting a user for good: only by typing the name. */

import { useState } from "preact/hooks";
import { userTexts } from "../../../texts/admin/user.ts";
import { Input } from "../../../ui/field.tsx";
import { FormDialog } from "../../../ui/form-dialog.tsx";
import type { DialogProps } from "../../../ui/use-dialog.ts";
import { makeChange } from "../change.ts";
import { useReason } from "../reason.tsx";
import { Preview } from "./change-dialog.tsx";
import type { UserRecord } from "./record.ts";
import { useChangeAction, usePreview } from "./use-change.ts";

interface DeleteDialogProps extends DialogProps {
  readonly user: UserRecord;
}

const DELETE = { kind: "delete" } as const;

export function DeleteDialog({ user, onClose, onDone }: DeleteDialogProps) {
  const { remove } = userTexts;
  const preview = usePreview(user.id, DELETE);
  const [typed, setTyped] = useState("");
  const [error, setError] = useState<string>();
  const reason = useReason();
  const work = useChangeAction(async () => {
    const isRight = typed.trim() === user.username;
    setError(isRight ? undefined : remove.wrong(user.username));
    const why = reason.read();
    if (!isRight || why === undefined) return;
    const hosts = await makeChange(user.id, DELETE, why);
    onDone(`${remove.done(user.username)} ${hosts}`.trimEnd());
  });
  return (
    <FormDialog
      title={remove.title(user.username)}
      {...{ work, onClose }}
      texts={remove}
      isPossible={preview.error === null}
      isReady={preview.data !== undefined}
      isDanger
    >
      <Preview preview={preview} />
      {reason.field}
      <Input
        label={remove.type(user.username)}
        error={error}
        value={typed}
        onValue={(value) => {
          setTyped(value);
          setError(undefined);
        }}
        autocomplete="off"
        autoCapitalize="none"
        required
      />
    </FormDialog>
  );
}
