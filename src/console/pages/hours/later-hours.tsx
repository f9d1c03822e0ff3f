/** Hours of the week in a form where they are seldom given: the field is loaded when somebody unfolds it. */

import { useRef, useState } from "preact/hooks";
import { Failure } from "../../ui/notice.tsx";
import type { GivenHours } from "./hours-field.tsx";

/** The `fields`, folded away; and `read()`: null for none, undefined for what says none, which is then unfolded and says so. */
export function useLaterHours(summary: string) {
  const [text, setText] = useState("");
  const [found, setFound] = useState<typeof import("./hours-field.tsx")>();
  const [failure, setFailure] = useState<Error>();
  const place = useRef<HTMLDetailsElement>(null);
  return {
    fields: (
      <details
        ref={place}
        onToggle={() => {
          if (found === undefined) import("./hours-field.tsx").then(setFound, setFailure);
        }}
      >
        <summary>{summary}</summary>
        {found === undefined ? null : <found.HoursField text={text} onText={setText} />}
        {found === undefined && failure !== undefined ? <Failure failure={failure} /> : null}
      </details>
    ),
    read: (): GivenHours | null | undefined => {
      const hours = found === undefined ? null : found.hoursIn(text);
      if (hours === undefined && place.current !== null) place.current.open = true;
      return hours;
    },
  };
}
