/** The end that a user is to have: so many more days, or a moment, which may be earlier than the present end. */

import { useRef, useState } from "preact/hooks";
import { instantOf } from "../../../local-time.ts";
import { userTexts } from "../../../texts/admin/user.ts";
import { zone } from "../../../ui/clock.ts";
import { Input } from "../../../ui/field.tsx";
import type { Change } from "../change.ts";
import { daysOf } from "../days.ts";

const { extend: texts } = userTexts;

/** The `fields`; the change that is `wanted`, undefined for what cannot be one; and `isWhole()`, which says beside the date that a part is missing. */
export function useEnd(untilHint = texts.untilHint) {
  const [text, setText] = useState("");
  const [local, setLocal] = useState("");
  const [isTorn, setTorn] = useState(false);
  const [typed, setTyped] = useState<"days" | "until">("days");
  const place = useRef<HTMLDivElement>(null);
  const days = daysOf(text);
  const until = instantOf(local, "since");
  const isBoth = text.trim() !== "" && until !== "";
  const wanted: Change | undefined =
    days === undefined || isBoth ? undefined : until === "" ? { kind: "extend", days } : { kind: "extend", until };
  return {
    wanted,
    until,
    isWhole: (): boolean => {
      // A date without its time, say, has no value: nobody is to get the default for it.
      const isWhole = (place.current?.querySelector("input:invalid") ?? null) === null;
      setTorn(!isWhole);
      return isWhole;
    },
    fields: (
      <div class="form" ref={place}>
        <Input
          label={texts.days}
          hint={texts.daysHint}
          error={days === undefined ? texts.daysWrong : isBoth && typed === "days" ? texts.both : undefined}
          value={text}
          onValue={(value) => {
            setText(value);
            setTyped("days");
          }}
          inputMode="numeric"
          autocomplete="off"
        />
        <Input
          label={texts.until}
          hint={untilHint(zone())}
          error={isBoth && typed === "until" ? texts.both : isTorn ? texts.torn : undefined}
          type="datetime-local"
          value={local}
          onValue={(value) => {
            setLocal(value);
            setTyped("until");
            setTorn(false);
          }}
        />
      </div>
    ),
  };
}
