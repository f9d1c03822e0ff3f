/** That a user was not yet told of the account, and telling them. */

import { api } from "../../../api.ts";
import { mayChange } from "../../../roles.ts";
import { userTexts } from "../../../texts/admin/user.ts";
import { Button } from "../../../ui/button.tsx";
import { FormDialog } from "../../../ui/form-dialog.tsx";
import { Notice } from "../../../ui/notice.tsx";
import { type DialogProps, useDialog } from "../../../ui/use-dialog.ts";
import { Will } from "../effects.tsx";
import { useRole } from "../for-role.tsx";
import type { UserRecord } from "./record.ts";
import { useChangeAction } from "./use-change.ts";

interface UntoldProps {
  readonly user: UserRecord;
  readonly onDone: DialogProps["onDone"];
}

/** Nothing for those who were told. Who could not log in is told of nothing. */
export function Untold({ user, onDone }: UntoldProps) {
  const { welcome: texts } = userTexts;
  const isAllowed = mayChange(useRole(), "users");
  const { open, start, props } = useDialog<"welcome">(onDone);
  if (user.welcome !== "pending") return null;
  return (
    <Notice kind="info" title={texts.untold(user.username)}>
      {isAllowed && user.status === "active" ? <Button onClick={() => start("welcome")}>{texts.open}</Button> : null}
      {open === undefined ? null : <WelcomeDialog user={user} {...props} />}
    </Notice>
  );
}

function WelcomeDialog({ user: { id, username, email }, onClose, onDone }: DialogProps & Pick<UntoldProps, "user">) {
  const { welcome: texts } = userTexts;
  const work = useChangeAction(async () => {
    await api("POST /users/:id/welcome", { params: { id } });
    onDone(texts.done(username));
  });
  return (
    <FormDialog title={texts.title(username)} {...{ work, onClose, texts }}>
      <Will sentences={[texts.will(email)]} />
    </FormDialog>
  );
}
