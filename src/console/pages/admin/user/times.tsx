/** When a user has access: the start, the hours of the week and what ends with them, and whom they ask. */

import { useState } from "preact/hooks";
import { MAX_REQUEST_HOURS } from "../../../../shared/hours/on-request.ts";
import { HOURS_ENDS, REQUEST_RULES } from "../../../../shared/product/statuses.ts";
import { api, type BodyOf } from "../../../api.ts";
import { userHoursTexts as texts } from "../../../texts/hours/hours.ts";
import { wholeNumber } from "../../../typed-text.ts";
import { withHosts } from "../../../ui/confirmed.ts";
import { Input, Select } from "../../../ui/field.tsx";
import type { DialogProps } from "../../../ui/use-dialog.ts";
import { HoursField, hoursIn, hoursText } from "../../hours/hours-field.tsx";
import { useStart } from "../../hours/start.tsx";
import { PreviewedDialog } from "../previewed-dialog.tsx";
import type { UserRecord } from "./record.ts";

type Timed = Pick<UserRecord, "starts_at" | "hours" | "hours_end" | "on_request">;
type TimeChanges = Pick<BodyOf<"PATCH /users/:id">, keyof Timed>;

const NONE: Timed = { starts_at: null, hours: null, hours_end: "sessions", on_request: null };

/** The `fields`; the `changes` that were typed, undefined while something is none; and `isWhole()`, which says beside the start that a part is missing. */
export function useTimes(user = NONE, mayStart = true) {
  // As it was when the form was opened: what somebody else changed meanwhile, and is not changed here, stays.
  const [before] = useState({ ...user, text: hoursText(user.hours) });
  const start = useStart(user.starts_at);
  const [text, setText] = useState(before.text);
  const [end, setEnd] = useState(before.hours_end);
  const [rule, setRule] = useState<string>(before.on_request?.rule ?? "none");
  const [most, setMost] = useState(String(before.on_request?.max_hours ?? 4));
  const [groups, setGroups] = useState((before.on_request?.groups ?? []).join(", "));
  const hours = hoursIn(text);
  const max = wholeNumber(most, MAX_REQUEST_HOURS);
  const asked = REQUEST_RULES.find((one) => one === rule);
  const only = groups.split(/[\s,]+/).filter(Boolean);
  const isOther = max !== before.on_request?.max_hours || only.join() !== (before.on_request?.groups ?? []).join();
  const isAsked = asked !== before.on_request?.rule || (asked !== undefined && isOther);
  const limited = only.length === 0 ? {} : { groups: only };
  const isWrong = hours === undefined || (asked !== undefined && max === undefined);
  const changes: TimeChanges = {
    ...start.changes,
    ...(text === before.text ? {} : { hours: hours ?? null }),
    ...(end === before.hours_end ? {} : { hours_end: end }),
    ...(isAsked ? { on_request: asked === undefined ? null : { rule: asked, max_hours: max ?? 0, ...limited } } : {}),
  };
  return {
    changes: isWrong ? undefined : changes,
    isWhole: start.isWhole,
    fields: (
      <div class="form">
        {mayStart ? start.field : null}
        <HoursField text={text} onText={setText} />
        {text === "" ? null : (
          <Select
            label={texts.ends}
            name="hours_end"
            value={end}
            options={HOURS_ENDS.map((value) => [value, texts.endsBy[value]])}
            onValue={(value) => setEnd(value as Timed["hours_end"])}
          />
        )}
        <Select
          label={texts.ask}
          hint={texts.askHint}
          name="on_request"
          value={rule}
          options={(["none", ...REQUEST_RULES] as const).map((value) => [value, texts.askBy[value]])}
          onValue={setRule}
        />
        {asked === undefined ? null : <Limits {...{ most, setMost, groups, setGroups }} />}
      </div>
    ),
  };
}

interface LimitsProps {
  readonly most: string;
  readonly setMost: (most: string) => void;
  readonly groups: string;
  readonly setGroups: (groups: string) => void;
}

/** Of access on request. */
function Limits({ most, setMost, groups, setGroups }: LimitsProps) {
  const isWrong = wholeNumber(most, MAX_REQUEST_HOURS) === undefined;
  return (
    <>
      <Input
        label={texts.most}
        error={isWrong ? texts.mostWrong(MAX_REQUEST_HOURS) : undefined}
        name="max_hours"
        inputMode="numeric"
        autocomplete="off"
        required
        value={most}
        onValue={setMost}
      />
      <Input
        label={texts.groups}
        hint={texts.groupsHint}
        name="groups"
        autocomplete="off"
        value={groups}
        onValue={setGroups}
      />
    </>
  );
}

export function TimesDialog({ user, onClose, onDone }: DialogProps & { readonly user: UserRecord }) {
  const { id, username } = user;
  const times = useTimes(user, user.access === "not_yet");
  const { changes } = times;
  const ask = (body: TimeChanges, query: { readonly preview?: "true" }) =>
    api("PATCH /users/:id", { params: { id }, query, body });
  return (
    <PreviewedDialog
      title={texts.title(username)}
      texts={texts}
      wanted={changes === undefined || Object.keys(changes).length === 0 ? undefined : changes}
      preview={(body) => ask(body, { preview: "true" })}
      change={async (body) => withHosts(texts.done(username), await ask(body, {}))}
      isConfirmed={times.isWhole}
      {...{ onClose, onDone }}
    >
      {times.fields}
    </PreviewedDialog>
  );
}
