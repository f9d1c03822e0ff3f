/** Ends an administrator's sessions, once it was said what that does. */

import { api } from "../../../api.ts";
import { useSession } from "../../../session.tsx";
import { forgetAnswers } from "../../../signed-in.tsx";
import { adminsTexts } from "../../../texts/admin-admins.ts";
import { useAction } from "../../../ui/action.ts";
import { FormDialog } from "../../../ui/form-dialog.tsx";
import { Notice } from "../../../ui/notice.tsx";
import type { Admin } from "./change-admin.tsx";

const { endSessions: texts } = adminsTexts;

interface EndProps {
  readonly admin: Admin;
  readonly onClose: () => void;
  /** Told what was done, in a sentence. */
  readonly onDone: (sentence: string) => void;
}

export function EndSessions({ admin: { id, username }, onClose, onDone }: EndProps) {
  const { state, end } = useSession();
  const isOwn = state.kind === "open" && state.principal.id === id;
  const work = useAction(async () => {
    const { sessions } = await api("DELETE /admins/:id/sessions", { params: { id } });
    if (isOwn) return end();
    await forgetAnswers();
    onDone(texts.done(username, sessions));
    onClose();
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
