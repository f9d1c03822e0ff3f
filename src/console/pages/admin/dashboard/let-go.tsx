/** Letting a user go whose access ends soon: on the day that is set, or now. */

import { useState } from "preact/hooks";
import { dashboardTexts } from "../../../texts/admin/dashboard.ts";
import { endDay } from "../../../ui/clock.ts";
import { Select } from "../../../ui/field.tsx";
import { FormDialog } from "../../../ui/form-dialog.tsx";
import type { DialogProps } from "../../../ui/use-dialog.ts";
import { makeUndoable } from "../change.ts";
import { Will } from "../effects.tsx";
import { useReason } from "../reason.tsx";
import { Preview } from "../user/change-dialog.tsx";
import type { UserRecord } from "../user/record.ts";
import { Undo } from "../user/undo.tsx";
import { useChangeAction, usePreview } from "../user/use-change.ts";

const { letGo: texts } = dashboardTexts;

type Way = "planned" | "now";

interface LetGoProps extends DialogProps {
  readonly user: UserRecord;
  /** Called if access is to end as planned. */
  readonly onPlanned: () => void;
}

export function LetGoDialog({ user, onPlanned, onClose, onDone }: LetGoProps) {
  const [way, setWay] = useState<Way>("planned");
  const { id, username } = user;
  const end = endDay(user.expire_at);
  const preview = usePreview(id, way === "now" ? { kind: "disable" } : undefined);
  const reason = useReason();
  const work = useChangeAction(async () => {
    if (way === "planned") {
      onPlanned();
      onDone(texts.planned(username, end));
      return;
    }
    const why = reason.read();
    if (why === undefined) return;
    const { hosts, back } = await makeUndoable(user, { kind: "disable" }, why);
    onDone(`${texts.disabled(username)} ${hosts}`.trimEnd(), back && <Undo key={back.since} {...{ back, onDone }} />);
  });
  const isNow = way === "now";
  return (
    <FormDialog
      title={texts.title(username)}
      {...{ work, onClose }}
      texts={{ submit: texts.submit[way], busy: texts.busy[way] }}
      isDanger={isNow}
      isPossible={!isNow || preview.error === null}
      isReady={!isNow || (preview.data !== undefined && !preview.isFetching)}
    >
      <Select
        label={texts.when}
        value={way}
        options={[
          ["planned", texts.ways.planned(end)],
          ["now", texts.ways.now],
        ]}
        onValue={(value) => setWay(value === "now" ? "now" : "planned")}
      />
      {isNow ? reason.field : null}
      {isNow ? <Preview preview={preview} /> : <Will sentences={[texts.stays(username, end), texts.leaves]} />}
    </FormDialog>
  );
}
