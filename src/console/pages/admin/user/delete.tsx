/** Deleting a user for good: only by typing the name. */

import { useState } from "preact/hooks";
import { userTexts } from "../../../texts/admin-user.ts";
import { Dialog } from "../../../ui/dialog.tsx";
import { Input } from "../../../ui/field.tsx";
import { Form } from "../../../ui/form.tsx";
import { makeChange } from "../change.ts";
import { Confirm, Preview } from "./change-dialog.tsx";
import type { UserRecord } from "./record.ts";
import { useChangeAction, usePreview } from "./use-change.ts";

interface DeleteDialogProps {
  readonly user: UserRecord;
  readonly onClose: () => void;
  readonly onDone: (sentence: string) => void;
}

const DELETE = { kind: "delete" } as const;

export function DeleteDialog({ user, onClose, onDone }: DeleteDialogProps) {
  const { remove } = userTexts;
  const preview = usePreview(user.id, DELETE);
  const [typed, setTyped] = useState("");
  const [error, setError] = useState<string>();
  const action = useChangeAction(async () => {
    const hosts = await makeChange(user.id, DELETE);
    onDone(`${remove.done(user.username)} ${hosts}`.trimEnd());
  });
  return (
    <Dialog title={remove.title(user.username)} onClose={onClose}>
      <Form
        onSubmit={() => {
          const isRight = typed.trim() === user.username;
          setError(isRight ? undefined : remove.wrong(user.username));
          if (isRight && preview.data !== undefined) void action.run();
        }}
      >
        <Preview preview={preview} />
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
        <Confirm
          {...{ action, onClose }}
          isPossible={preview.error === null}
          isReady={preview.data !== undefined}
          confirm={remove.confirm}
          busy={remove.busy}
          isDanger
        />
      </Form>
    </Dialog>
  );
}
