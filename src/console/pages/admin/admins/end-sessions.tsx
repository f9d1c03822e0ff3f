/** Ends an administrator's sessions, once it was said what that does. */

import { api } from "../../../api.ts";
import { useSession } from "../../../session.tsx";
import { forgetAnswers } from "../../../signed-in.tsx";
import { adminsTexts } from "../../../texts/admin/admins.ts";
import { useAction } from "../../../ui/action.ts";
import { FormDialog } from "../../../ui/form-dialog.tsx";
import { Notice } from "../../../ui/notice.tsx";
import type { DialogProps } from "../../../ui/use-dialog.ts";
import type { Admin } from "./change-admin.tsx";

const { endSessions: texts } = adminsTexts;

interface EndProps extends DialogProps {
  readonly admin: Admin;
}

export function EndSessions({ admin: { id, username }, onClose, onDone }: EndProps) {
  const { state, end } = useSession();
  const isOwn = state.kind === "open" && state.principal.id === id;
  const work = useAction(async () => {
    const { sessions } = await api("DELETE /admins/:id/sessions", { params: { id } });
    if (isOwn) return end();
    await forgetAnswers();
    onDone(texts.done(username, sessions));
  });
  return (
    <FormDialog title={texts.title(username)} {...{ work, onClose, texts }} isDanger>
      {isOwn ? (
        <Notice kind="warn">
          <p>{texts.own}</p>
        </Notice>
      ) : null}
      <p>{texts.text}</p>
    </FormDialog>
  );
}
