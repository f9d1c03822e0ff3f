/** Changing what is known of a user; only what was changed is sent. */

import { useState } from "preact/hooks";
import { isEmail } from "../../../../shared/text/person.ts";
import { api } from "../../../api.ts";
import { userTexts } from "../../../texts/admin/user.ts";
import { withoutBreaks } from "../../../typed-text.ts";
import { Area, Input } from "../../../ui/field.tsx";
import { FormDialog } from "../../../ui/form-dialog.tsx";
import type { DialogProps } from "../../../ui/use-dialog.ts";
import { useCompany } from "../../companies/choice.tsx";
import type { UserRecord } from "./record.ts";
import { useChangeAction } from "./use-change.ts";

interface EditDialogProps extends DialogProps {
  readonly user: UserRecord;
}

export function EditDialog({ user, onClose, onDone }: EditDialogProps) {
  const { edit } = userTexts;
  const [email, setEmail] = useState(user.email);
  const [fullName, setFullName] = useState(user.full_name);
  const [supervisor, setSupervisor] = useState(user.supervisor);
  const [sponsor, setSponsor] = useState(user.sponsor_email);
  const [purpose, setPurpose] = useState(user.purpose);
  const [note, setNote] = useState(user.note);
  const [error, setError] = useState<string>();
  const company = useCompany({ user });
  // The one that was shown when it was opened: what somebody else changed meanwhile, and is not changed here, stays.
  const [before] = useState(user);
  const changes = {
    ...(email.trim() === before.email ? {} : { email: email.trim() }),
    ...(fullName === before.full_name ? {} : { full_name: fullName }),
    ...(supervisor === before.supervisor ? {} : { supervisor }),
    ...(sponsor.trim() === before.sponsor_email ? {} : { sponsor_email: sponsor.trim() }),
    ...(purpose === before.purpose ? {} : { purpose }),
    ...(note === before.note ? {} : { note }),
  };
  const work = useChangeAction(async () => {
    const isWrong = !isEmail(email.trim());
    setError(isWrong ? edit.emailWrong : undefined);
    const from = await company.read();
    if (isWrong || from === undefined) return;
    const body = { ...changes, ...from };
    if (Object.keys(body).length === 0) return onClose();
    await api("PATCH /users/:id", { params: { id: user.id }, body });
    onDone(edit.done(user.username));
  });
  return (
    <FormDialog title={edit.title(user.username)} {...{ work, onClose }} texts={edit}>
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
      <Input label={edit.fullName} value={fullName} onValue={setFullName} autocomplete="off" />
      <Input label={edit.supervisor} value={supervisor} onValue={setSupervisor} autocomplete="off" />
      <Input
        label={edit.sponsor}
        hint={edit.sponsorHint}
        type="email"
        value={sponsor}
        onValue={setSponsor}
        autocomplete="off"
      />
      {company.fields}
      <Area label={edit.purpose} value={purpose} onValue={(value) => setPurpose(withoutBreaks(value))} rows={2} />
      <Area
        label={edit.note}
        hint={edit.noteHint}
        value={note}
        onValue={(value) => setNote(withoutBreaks(value))}
        rows={2}
      />
    </FormDialog>
  );
}
