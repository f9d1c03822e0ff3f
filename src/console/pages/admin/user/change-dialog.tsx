/** Extending, disabling and enabling: what will happen, then the confirmation. */

import { useEffect, useState } from "preact/hooks";
import { userTexts } from "../../../texts/admin-user.ts";
import { common } from "../../../texts/common.ts";
import type { Action } from "../../../ui/action.ts";
import { Button } from "../../../ui/button.tsx";
import { moment } from "../../../ui/clock.ts";
import { Dialog } from "../../../ui/dialog.tsx";
import { Input } from "../../../ui/field.tsx";
import { Form } from "../../../ui/form.tsx";
import { Loading } from "../../../ui/loading.tsx";
import { Failure } from "../../../ui/notice.tsx";
import { type Change, makeChange, type UserPreview } from "../change.ts";
import { daysOf } from "../days.ts";
import { Effects } from "../effects.tsx";
import type { UserRecord } from "./record.ts";
import { useChangeAction, usePreview } from "./use-change.ts";

export type ChangeKind = "extend" | "disable" | "enable";

interface ChangeDialogProps {
  readonly user: UserRecord;
  readonly kind: ChangeKind;
  readonly onClose: () => void;
  readonly onDone: (sentence: string) => void;
}

/** Milliseconds without a keystroke after which the preview is asked for. */
const PAUSE = 300;

export function ChangeDialog({ user, kind, onClose, onDone }: ChangeDialogProps) {
  const texts = userTexts[kind];
  const [text, setText] = useState("");
  const days = daysOf(text);
  const settled = useSettled(days);
  const wanted: Change | undefined =
    kind !== "extend" ? { kind } : settled === undefined ? undefined : { kind, days: settled };
  const preview = usePreview(user.id, wanted);
  const action = useChangeAction(async (change: Change, expected: UserPreview) => {
    const hosts = await makeChange(user.id, change);
    const done = texts.done(user.username, expected.expire_at === null ? "" : moment(expected.expire_at));
    onDone(`${done} ${hosts}`.trimEnd());
  });
  // Nobody confirms what they have not been shown.
  const isShown = preview.data !== undefined && !preview.isFetching && settled === days;
  return (
    <Dialog title={texts.title(user.username)} onClose={onClose}>
      <Form
        onSubmit={() => {
          if (isShown && wanted !== undefined && preview.data !== undefined) void action.run(wanted, preview.data);
        }}
      >
        {kind === "extend" ? (
          <Input
            label={userTexts.extend.days}
            hint={userTexts.extend.daysHint}
            error={days === undefined ? userTexts.extend.daysWrong : undefined}
            value={text}
            onValue={setText}
            inputMode="numeric"
            autocomplete="off"
          />
        ) : null}
        {days === undefined ? null : <Preview preview={preview} isDated={kind !== "disable"} />}
        <Confirm
          {...{ action, onClose }}
          isPossible={preview.error === null && days !== undefined}
          isReady={isShown}
          confirm={texts.confirm}
          busy={texts.busy}
          isDanger={kind === "disable"}
        />
      </Form>
    </Dialog>
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

/** What will happen; until that is known, that it is asked for, or why it cannot. */
export function Preview({ preview, isDated = false }: PreviewProps) {
  if (preview.error !== null) return <Failure failure={preview.error} onRetry={() => void preview.refetch()} />;
  return preview.data === undefined ? <Loading /> : <Effects preview={preview.data} isDated={isDated} />;
}

interface ConfirmProps {
  readonly action: Pick<Action<[]>, "busy" | "failure">;
  readonly onClose: () => void;
  /** Whether the service would do it. */
  readonly isPossible: boolean;
  /** Whether everything is there that has to be seen or typed before. */
  readonly isReady: boolean;
  readonly confirm: string;
  readonly busy: string;
  readonly isDanger?: boolean;
}

/** The end of a dialog that changes something: what went wrong, the confirmation, and the way out. */
export function Confirm({ action, onClose, isPossible, isReady, confirm, busy, isDanger = false }: ConfirmProps) {
  return (
    <>
      <Failure failure={action.failure} />
      <div class="actions">
        {isPossible ? (
          <Button
            type="submit"
            kind={isDanger ? "danger" : "primary"}
            busy={action.busy ? busy : isReady ? false : confirm}
          >
            {confirm}
          </Button>
        ) : null}
        <Button onClick={onClose}>{action.failure === undefined ? common.cancel : common.close}</Button>
      </div>
    </>
  );
}
