/** Shuts a host as a whole, or opens it again: what will happen, then the confirmation. */

import { api } from "../../api.ts";
import { oneHostTexts } from "../../texts/host.ts";
import { useAction } from "../../ui/action.ts";
import { clockTime } from "../../ui/clock.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { Form } from "../../ui/form.tsx";
import { Will } from "../admin/effects.tsx";
import { Confirm } from "../admin/user/change-dialog.tsx";
import type { HostDetail } from "./state.ts";

interface LockHostProps {
  readonly host: HostDetail;
  readonly onClose: () => void;
  readonly onDone: (sentence: string) => void;
}

export function LockHost({ host, onClose, onDone }: LockHostProps) {
  const { id, name, status, accounts, lease_until: until } = host;
  const isLocked = status === "locked";
  const texts = isLocked ? oneHostTexts.unlock : oneHostTexts.lock;
  const work = useAction(async () => {
    await api(isLocked ? "POST /hosts/:id/unlock" : "POST /hosts/:id/lock", { params: { id } });
    onDone(texts.done(name));
  });
  const sentences = texts.effects(name, accounts.open);
  return (
    <Dialog title={texts.title(name)} onClose={() => (work.busy ? undefined : onClose())}>
      <Form onSubmit={() => void work.run()}>
        <Will
          sentences={
            isLocked ? sentences : [...sentences, oneHostTexts.lock.when(until === null ? undefined : clockTime(until))]
          }
        />
        <Confirm
          action={work}
          onClose={onClose}
          isPossible
          isReady
          confirm={texts.confirm}
          busy={texts.busy}
          isDanger={!isLocked}
        />
      </Form>
    </Dialog>
  );
}
