/** Ends a user's sessions with the service, once it was said what that does. */

import { api } from "../../../api.ts";
import { userTexts } from "../../../texts/admin-user.ts";
import { Dialog } from "../../../ui/dialog.tsx";
import { Form } from "../../../ui/form.tsx";
import { Will } from "../effects.tsx";
import { Confirm } from "./change-dialog.tsx";
import type { UserRecord } from "./record.ts";
import { useChangeAction } from "./use-change.ts";

interface SignOutProps {
  readonly user: UserRecord;
  readonly onClose: () => void;
  /** Told what was done, in a sentence. */
  readonly onDone: (sentence: string) => void;
}

export function SignOut({ user: { id, username }, onClose, onDone }: SignOutProps) {
  const { signOut } = userTexts;
  const action = useChangeAction(async () => {
    const { sessions } = await api("DELETE /users/:id/web-sessions", { params: { id } });
    onDone(signOut.done(username, sessions));
  });
  return (
    <Dialog title={signOut.title(username)} onClose={onClose}>
      <Form onSubmit={() => void action.run()}>
        <Will sentences={[signOut.ends, signOut.again(username)]} />
        <Confirm {...{ action, onClose }} isPossible isReady confirm={signOut.confirm} busy={signOut.busy} isDanger />
      </Form>
    </Dialog>
  );
}
