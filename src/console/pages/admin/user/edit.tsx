/** Changing what is known of a user; only what was changed is sent. */

import { useState } from "preact/hooks";
import { isEmail } from "../../../../shared/person.ts";
import { api } from "../../../api.ts";
import { userTexts } from "../../../texts/admin-user.ts";
import { Dialog } from "../../../ui/dialog.tsx";
import { Area, Input } from "../../../ui/field.tsx";
import { Form } from "../../../ui/form.tsx";
import { Confirm } from "./change-dialog.tsx";
import type { UserRecord } from "./record.ts";
import { useChangeAction } from "./use-change.ts";

interface EditDialogProps {
  readonly user: UserRecord;
  readonly onClose: () => void;
  readonly onDone: (sentence: string) => void;
}

export function EditDialog({ user, onClose, onDone }: EditDialogProps) {
  const { edit } = userTexts;
  const [email, setEmail] = useState(user.email);
  const [supervisor, setSupervisor] = useState(user.supervisor);
  const [purpose, setPurpose] = useState(user.purpose);
  const [error, setError] = useState<string>();
  // The one that was shown when it was opened: what somebody else changed meanwhile, and is not changed here, stays.
  const [before] = useState(user);
  const changes = {
    ...(email.trim() === before.email ? {} : { email: email.trim() }),
    ...(supervisor === before.supervisor ? {} : { supervisor }),
    ...(purpose === before.purpose ? {} : { purpose }),
  };
  const isChanged = Object.keys(changes).length > 0;
  const action = useChangeAction(async () => {
    await api("PATCH /users/:id", { params: { id: user.id }, body: changes });
    onDone(edit.done(user.username));
  });
  return (
    <Dialog title={edit.title(user.username)} onClose={onClose}>
      <Form
        onSubmit={() => {
          const isWrong = !isEmail(email.trim());
          setError(isWrong ? edit.emailWrong : undefined);
          if (isWrong) return;
          if (isChanged) void action.run();
          else onClose();
        }}
      >
        <Input
          label={edit.email}
          hint={edit.emailHint}
          error={error}
          type="email"
          value={email}
          onValue={setEmail}
          autocomplete="off"
          required
        />
        <Input label={edit.supervisor} value={supervisor} onValue={setSupervisor} autocomplete="off" />
        <Area label={edit.purpose} value={purpose} onValue={(value) => setPurpose(value.replace(/\s*\n\s*/g, " "))} />
        <Confirm {...{ action, onClose }} isPossible isReady confirm={edit.confirm} busy={edit.busy} />
      </Form>
    </Dialog>
  );
}
