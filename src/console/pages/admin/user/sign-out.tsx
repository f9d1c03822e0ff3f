/** Ends a user's sessions with the service, once it was said what that does. */

import { api } from "../../../api.ts";
import { userTexts } from "../../../texts/admin/user.ts";
import { FormDialog } from "../../../ui/form-dialog.tsx";
import type { DialogProps } from "../../../ui/use-dialog.ts";
import { Will } from "../effects.tsx";
import type { UserRecord } from "./record.ts";
import { useChangeAction } from "./use-change.ts";

interface SignOutProps extends DialogProps {
  readonly user: UserRecord;
}

export function SignOut({ user: { id, username, status }, onClose, onDone }: SignOutProps) {
  const { signOut } = userTexts;
  const work = useChangeAction(async () => {
    const { sessions } = await api("DELETE /users/:id/web-sessions", { params: { id } });
    onDone(signOut.done(username, sessions));
  });
  return (
    <FormDialog title={signOut.title(username)} {...{ work, onClose }} texts={signOut} isDanger>
      <Will sentences={[signOut.ends, (status === "active" ? signOut.again : signOut.notAgain)(username)]} />
    </FormDialog>
  );
}
