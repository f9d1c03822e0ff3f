/** Invites an administrator: the service mails a link that sets the password. */

import { useState } from "preact/hooks";
import type { AdminRole } from "../../../../shared/product/statuses.ts";
import { ADMIN_NAME } from "../../../../shared/text/person.ts";
import { api } from "../../../api.ts";
import { forgetAnswers } from "../../../signed-in.tsx";
import { adminsTexts } from "../../../texts/admin/admins.ts";
import { Input } from "../../../ui/field.tsx";
import type { DialogProps } from "../../../ui/use-dialog.ts";
import { type Confirmed, ConfirmedDialog } from "../account/confirm.tsx";
import { RoleField } from "./role-field.tsx";

const { invite: texts } = adminsTexts;

export function InviteAdmin({ onClose, onDone }: DialogProps) {
  const [username, setUsername] = useState("");
  const [email, setEmail] = useState("");
  // The least that somebody new may need; more is given on purpose.
  const [role, setRole] = useState<AdminRole>("operator");
  const [wrong, setWrong] = useState<{ readonly name?: string; readonly email?: string }>({});
  const invite = async (confirmed: Confirmed) => {
    const name = username.trim();
    const address = email.trim();
    const faults = {
      ...(ADMIN_NAME.test(name) ? {} : { name: texts.nameError }),
      ...(address === "" ? { email: texts.emailError } : {}),
    };
    setWrong(faults);
    if (Object.keys(faults).length > 0) return;
    const body = { username: name, email: address, role };
    const admin = await confirmed((sure) => api("POST /admins", { body: { ...body, ...sure } }));
    if (admin === undefined) return;
    await forgetAnswers();
    onDone(texts.done(admin.username, admin.email));
  };
  return (
    <ConfirmedDialog title={texts.title} act={invite} {...{ onClose, texts }}>
      <Input
        label={texts.name}
        hint={texts.nameHint}
        error={wrong.name}
        name="username"
        autocomplete="off"
        autocapitalize="none"
        required
        maxLength={64}
        value={username}
        onValue={setUsername}
      />
      <Input
        label={texts.email}
        hint={texts.emailHint}
        error={wrong.email}
        name="email"
        type="email"
        autocomplete="off"
        required
        maxLength={254}
        value={email}
        onValue={setEmail}
      />
      <RoleField value={role} onValue={setRole} />
    </ConfirmedDialog>
  );
}
