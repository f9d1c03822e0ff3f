/** Disabling somebody whose time is up: there is nothing to take away but the account itself. */

import { userTexts } from "../../../texts/admin/user.ts";
import { common } from "../../../texts/common.ts";
import { Button } from "../../../ui/button.tsx";
import { endMoment } from "../../../ui/clock.ts";
import { Dialog } from "../../../ui/dialog.tsx";
import { useSetting } from "../setting.ts";
import { endsOf } from "./ends.ts";
import type { UserRecord } from "./record.ts";

interface EndedDialogProps {
  readonly user: UserRecord;
  readonly onClose: () => void;
  readonly onDelete: () => void;
}

/** Says since when they have no access, what comes of the account, and leads to deleting it now. */
export function EndedDialog({ user, onClose, onDelete }: EndedDialogProps) {
  const { ended, actions } = userTexts;
  const { at, removedAt } = endsOf(user, useSetting("policy.recycle_period"));
  return (
    <Dialog title={ended.title(user.username)} onClose={onClose}>
      <div class="stack tight">
        <p>{ended.since(endMoment(at))}</p>
        <p>{removedAt === undefined ? ended.kept : ended.keptUntil(endMoment(removedAt))}</p>
        <p class="actions">
          <Button kind="danger" onClick={onDelete}>
            {actions.remove}
          </Button>
          <Button onClick={onClose}>{common.cancel}</Button>
        </p>
      </div>
    </Dialog>
  );
}
