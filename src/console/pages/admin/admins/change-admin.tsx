/** Changes an administrator's role or e-mail address. */

import { useState } from "preact/hooks";
import { type AnswerOf, api } from "../../../api.ts";
import { useSession } from "../../../session.tsx";
import { forgetAnswers } from "../../../signed-in.tsx";
import { adminsTexts } from "../../../texts/admin/admins.ts";
import { Input } from "../../../ui/field.tsx";
import { Notice } from "../../../ui/notice.tsx";
import type { DialogProps } from "../../../ui/use-dialog.ts";
import { type Confirmed, ConfirmedDialog } from "../account/confirm.tsx";
import { AdminFailure } from "./last-owner.tsx";
import { RoleField } from "./role-field.tsx";

export type Admin = AnswerOf<"GET /admins">["items"][number];

const { change: texts, invite } = adminsTexts;

interface ChangeProps extends DialogProps {
  readonly admin: Admin;
}

export function ChangeAdmin({ admin, onClose, onDone }: ChangeProps) {
  const [email, setEmail] = useState(admin.email);
  const [role, setRole] = useState(admin.role);
  const [error, setError] = useState<string>();
  const [isSame, setSame] = useState(false);
  const { state, refresh } = useSession();
  const isOwn = state.kind === "open" && state.principal.id === admin.id;
  const change = async (confirmed: Confirmed) => {
    const address = email.trim();
    setError(address === "" ? invite.emailError : undefined);
    const body = {
      ...(address === admin.email ? {} : { email: address }),
      ...(role === admin.role ? {} : { role }),
    };
    setSame(Object.keys(body).length === 0);
    if (address === "" || Object.keys(body).length === 0) return;
    const changed = await confirmed((sure) =>
      api("PATCH /admins/:id", { params: { id: admin.id }, body: { ...body, ...sure } }),
    );
    if (changed === undefined) return;
    // The pages one sees depend on one's own role.
    if (isOwn) refresh();
    await forgetAnswers();
    onDone(texts.done(admin.username));
  };
  return (
    <ConfirmedDialog
      title={texts.title(admin.username)}
      act={change}
      {...{ onClose, texts }}
      failure={(failure) => <AdminFailure failure={failure} />}
    >
      {isOwn ? (
        <Notice kind="warn">
          <p>{texts.own}</p>
        </Notice>
      ) : null}
      <Input
        label={invite.email}
        hint={texts.emailHint}
        error={error}
        name="email"
        type="email"
        autocomplete="off"
        required
        maxLength={254}
        value={email}
        onValue={setEmail}
      />
      {admin.sso ? <p>{texts.ssoRole}</p> : <RoleField value={role} onValue={setRole} hint={texts.roleHint} />}
      {isSame ? (
        <Notice kind="info">
          <p>{texts.nothing}</p>
        </Notice>
      ) : null}
    </ConfirmedDialog>
  );
}
