/** Shuts a host as a whole, or opens it again: what will happen, then the confirmation. */

import { api } from "../../api.ts";
import { oneHostTexts } from "../../texts/hosts/host.ts";
import { clockTime } from "../../ui/clock.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import type { DialogProps } from "../../ui/use-dialog.ts";
import { Will } from "../admin/effects.tsx";
import { useChangeAction } from "../admin/user/use-change.ts";
import type { HostDetail } from "./state.ts";

interface LockHostProps extends DialogProps {
  readonly host: HostDetail;
}

export function LockHost({ host, onClose, onDone }: LockHostProps) {
  const { id, name, status, accounts, lease_until: until } = host;
  const isLocked = status === "locked";
  const texts = isLocked ? oneHostTexts.unlock : oneHostTexts.lock;
  const work = useChangeAction(async () => {
    await api(isLocked ? "POST /hosts/:id/unlock" : "POST /hosts/:id/lock", { params: { id } });
    onDone(texts.done(name));
  });
  const sentences = texts.effects(name, accounts.open);
  return (
    <FormDialog title={texts.title(name)} {...{ work, onClose, texts }} isDanger={!isLocked}>
      <Will
        sentences={
          isLocked ? sentences : [...sentences, oneHostTexts.lock.when(until === null ? undefined : clockTime(until))]
        }
      />
    </FormDialog>
  );
}
