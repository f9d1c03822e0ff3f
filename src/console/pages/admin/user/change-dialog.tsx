/** Extending, disabling and enabling: what will happen, then the confirmation. */

import { useEffect, useState } from "preact/hooks";
import { userTexts } from "../../../texts/admin/user.ts";
import { endMoment } from "../../../ui/clock.ts";
import { FormDialog } from "../../../ui/form-dialog.tsx";
import { Loading } from "../../../ui/loading.tsx";
import { Failure } from "../../../ui/notice.tsx";
import type { DialogProps } from "../../../ui/use-dialog.ts";
import { type Change, makeUndoable } from "../change.ts";
import { Effects } from "../effects.tsx";
import { useReason } from "../reason.tsx";
import { useEnd } from "./end-fields.tsx";
import type { UserRecord } from "./record.ts";
import { Undo } from "./undo.tsx";
import { useChangeAction, usePreview } from "./use-change.ts";

export type ChangeKind = "extend" | "disable" | "enable";

interface ChangeDialogProps extends DialogProps {
  readonly user: UserRecord;
  readonly kind: ChangeKind;
}

/** Milliseconds without a keystroke after which the preview is asked for. */
const PAUSE = 300;

export function ChangeDialog({ user, kind, onClose, onDone }: ChangeDialogProps) {
  const end = useEnd();
  const wanted: Change | undefined = kind === "extend" ? end.wanted : { kind };
  const isShorter = kind === "extend" && end.until !== "" && end.until < user.expire_at && user.status !== "expired";
  const texts = { ...userTexts[kind], ...(isShorter ? userTexts.shorten : {}) };
  const key = JSON.stringify(wanted);
  const settled = useSettled(key);
  const preview = usePreview(user.id, settled === undefined ? undefined : (JSON.parse(settled) as Change));
  const reason = useReason();
  const work = useChangeAction(async () => {
    const expected = preview.data;
    const why = reason.read();
    if (!end.isWhole() || wanted === undefined || expected === undefined || why === undefined) return;
    const { hosts, back } = await makeUndoable(user, wanted, why);
    const done = texts.done(user.username, expected.expire_at === null ? "" : endMoment(expected.expire_at));
    onDone(`${done} ${hosts}`.trimEnd(), back && <Undo key={back.since} {...{ back, onDone }} />);
  });
  return (
    <FormDialog
      title={texts.title(user.username)}
      {...{ work, onClose, texts }}
      isPossible={preview.error === null && wanted !== undefined}
      // Nobody confirms what they have not been shown.
      isReady={preview.data !== undefined && !preview.isFetching && settled === key}
      isDanger={kind === "disable" || isShorter}
    >
      {kind === "extend" ? end.fields : null}
      {reason.field}
      {wanted === undefined ? null : <Preview preview={preview} isDated={kind !== "disable"} />}
    </FormDialog>
  );
}

/** The value once it has not changed for a moment. */
export function useSettled<T>(value: T): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), PAUSE);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

interface PreviewProps {
  readonly preview: ReturnType<typeof usePreview>;
  readonly isDated?: boolean;
}

/** The consequences; until they are known, that they are asked for, or why it is impossible. */
export function Preview({ preview, isDated = false }: PreviewProps) {
  if (preview.error !== null) return <Failure failure={preview.error} onRetry={() => void preview.refetch()} />;
  return preview.data === undefined ? <Loading /> : <Effects preview={preview.data} isDated={isDated} />;
}
