/** When a new user has access: the end itself instead of days, the start, the hours, and whom they ask. */

import { useState } from "preact/hooks";
import type { BodyOf } from "../../../api.ts";
import { instantOf } from "../../../local-time.ts";
import { userHoursTexts as texts } from "../../../texts/hours/hours.ts";
import { zone } from "../../../ui/clock.ts";
import { Input } from "../../../ui/field.tsx";
import { useTimes } from "./times.tsx";

/** The `fields`, folded away; the end `until`, "" for none; and `read()`: what to send, undefined where something is no time, which the fields then say. */
export function useNewTimes() {
  const times = useTimes();
  const [local, setLocal] = useState("");
  const until = instantOf(local, "since");
  return {
    until,
    fields: (
      <details>
        <summary>{texts.more}</summary>
        <div class="form">
          <Input
            label={texts.end}
            hint={texts.endHint(zone())}
            name="expire_at"
            type="datetime-local"
            value={local}
            onValue={setLocal}
          />
          {times.fields}
        </div>
      </details>
    ),
    read: (): Partial<BodyOf<"POST /users">> | undefined => {
      const isWhole = times.isWhole();
      if (times.changes === undefined || !isWhole) return undefined;
      const { starts_at: start, ...others } = times.changes;
      return { ...others, ...(start ? { starts_at: start } : {}), ...(until === "" ? {} : { expire_at: until }) };
    },
  };
}
