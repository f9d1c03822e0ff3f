/** When access begins, in the time zone of whoever looks. */

import { useRef, useState } from "preact/hooks";
import { instantOf, localOf } from "../../local-time.ts";
import { userHoursTexts as texts } from "../../texts/hours/hours.ts";
import { zone } from "../../ui/clock.ts";
import { Input } from "../../ui/field.tsx";

/** The `field`; what it `changes`, null for at once; and `isWhole()`, which says beside it that a part of the moment is missing. */
export function useStart(told: string | null = null) {
  // As it was when the form was opened: what somebody else changed meanwhile, and is not changed here, stays.
  const [before] = useState(localOf(told ?? ""));
  const [start, setStart] = useState(before);
  const [isTorn, setTorn] = useState(false);
  const place = useRef<HTMLDivElement>(null);
  return {
    changes: start === before ? {} : { starts_at: instantOf(start, "since") || null },
    isWhole: (): boolean => {
      const isWhole = (place.current?.querySelector("input:invalid") ?? null) === null;
      setTorn(!isWhole);
      return isWhole;
    },
    field: (
      <div ref={place}>
        <Input
          label={texts.start}
          hint={texts.startHint(zone())}
          error={isTorn ? texts.torn : undefined}
          name="starts_at"
          type="datetime-local"
          value={start}
          onValue={(value) => {
            setStart(value);
            setTorn(false);
          }}
        />
      </div>
    ),
  };
}
