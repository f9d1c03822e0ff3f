/** Whether a user's access is open now, and by what; and ending what is open on request. */

import { api } from "../../../api.ts";
import { userHoursTexts as texts } from "../../../texts/hours/hours.ts";
import { withHosts } from "../../../ui/confirmed.ts";
import { FormDialog } from "../../../ui/form-dialog.tsx";
import { Time } from "../../../ui/time.tsx";
import type { DialogProps } from "../../../ui/use-dialog.ts";
import { hoursText } from "../../hours/hours-field.tsx";
import { useReason } from "../reason.tsx";
import type { UserRecord } from "./record.ts";
import { useChangeAction } from "./use-change.ts";

interface AccessProps {
  readonly user: UserRecord;
}

/** Nothing for whoever has access around the clock. */
export function AccessFacts({ user }: AccessProps) {
  const { access, access_changes_at: changes, starts_at: start, hours, on_request: asked } = user;
  if (start === null && hours === null && asked === null && (access === "open" || access === "closed")) return null;
  return (
    <>
      <dt>{texts.now.label}</dt>
      <dd>
        {texts.now[access]}
        {changes === null || access === "closed" ? null : (
          <>
            , {texts.until} <Time at={changes} both />
          </>
        )}
      </dd>
      {start === null ? null : (
        <>
          <dt>{texts.starts}</dt>
          <dd>
            <Time at={start} both />
          </dd>
        </>
      )}
      {hours === null ? null : (
        <>
          <dt>{texts.hours}</dt>
          <dd>
            {hoursText(hours)}
            <p class="quiet">{`${texts.ends} ${texts.endsBy[user.hours_end]}`}</p>
          </dd>
        </>
      )}
      {asked === null ? null : (
        <>
          <dt>{texts.ask}</dt>
          <dd>{texts.asked(texts.askBy[asked.rule], asked.max_hours, asked.groups)}</dd>
        </>
      )}
    </>
  );
}

/** Ends what is open on request, and withdraws what waits. */
export function EndAccessDialog({ user: { id, username }, onClose, onDone }: DialogProps & AccessProps) {
  const { endAccess } = texts;
  const reason = useReason();
  const work = useChangeAction(async () => {
    const why = reason.read();
    if (why === undefined) return;
    const query = why === "" ? {} : { reason: why };
    onDone(withHosts(endAccess.done(username), await api("DELETE /users/:id/access", { params: { id }, query })));
  });
  return (
    <FormDialog title={endAccess.title(username)} texts={endAccess} isDanger {...{ work, onClose }}>
      <p>{endAccess.text}</p>
      {reason.field}
    </FormDialog>
  );
}
