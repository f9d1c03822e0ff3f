/** Hours of the week as text, in the grammar of the command line, and beside it as a week to paint: both change the same. */

import type { ComponentType } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { UamError } from "../../../shared/errors.ts";
import type { Hours } from "../../../shared/hours/hours.ts";
import { formatHours, parseHours } from "../../../shared/hours/text.ts";
import { hoursTexts as texts } from "../../texts/hours/hours.ts";
import { zone as ownZone } from "../../ui/clock.ts";
import { Area } from "../../ui/field.tsx";
import { Failure } from "../../ui/notice.tsx";
import { isWhole } from "./week.ts";
import type { WeekGridProps } from "./week-grid.tsx";

/** Hours as a request takes them. */
export interface GivenHours {
  zone: string;
  windows: { days: Hours["windows"][number]["days"][number][]; from: string; to: string }[];
}

/** The typed hours; null for none, undefined for what says none. */
export function hoursIn(text: string): GivenHours | null | undefined {
  const read = readHours(text);
  if (read === null || typeof read === "string") return read === null ? null : undefined;
  return { zone: read.zone, windows: read.windows.map((window) => ({ ...window, days: [...window.days] })) };
}

/** Hours as text; "" for none. */
export function hoursText(hours: Hours | null): string {
  return hours === null || hours.windows.length === 0 ? "" : formatHours(hours);
}

/** The hours, null for none, or what is wrong with the text. */
function readHours(text: string): Hours | null | string {
  if (text.trim() === "") return null;
  try {
    return parseHours(text);
  } catch (error) {
    if (error instanceof UamError) return error.message;
    throw error;
  }
}

interface HoursFieldProps {
  readonly label?: string;
  readonly hint?: string;
  readonly text: string;
  readonly onText: (text: string) => void;
}

export function HoursField({ label = texts.label, hint = texts.hint, text, onText }: HoursFieldProps) {
  const [isOpen, setOpen] = useState(false);
  const [isTyped, setTyped] = useState(false);
  const read = readHours(text);
  // While the text is none, the grid shows what it last was, and paints in its zone.
  const last = useRef<Hours>({ zone: ownZone(), windows: [] });
  if (read === null) last.current = { ...last.current, windows: [] };
  else if (typeof read !== "string") last.current = read;
  const { zone, windows } = last.current;
  const kept = windows.filter((window) => !isWhole(window));
  return (
    <div class="stack">
      <Area
        {...{ label, hint }}
        error={isTyped && typeof read === "string" ? read : undefined}
        name="hours"
        rows={2}
        spellcheck={false}
        autoCapitalize="none"
        value={text}
        onValue={(value) => {
          setTyped(true);
          onText(value);
        }}
      />
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>{texts.paint}</summary>
        {isOpen ? (
          <>
            <p class="hint">
              {texts.keys} {texts.zone(zone)}
            </p>
            <Grid
              windows={windows}
              onWindows={(next) => {
                setTyped(false);
                last.current = { zone, windows: next };
                // Never what means any hour, only because the last cell was wiped.
                onText(next.length === 0 ? zone : formatHours({ zone, windows: next }));
              }}
            />
            {kept.length === 0 ? null : <p class="hint">{texts.kept(formatHours({ zone, windows: kept }))}</p>}
            {isTyped || typeof read !== "string" || windows.length === 0 ? null : <p class="error">{read}</p>}
            {windows.length > 0 ? null : <p class="hint">{read === null ? texts.always : texts.none}</p>}
          </>
        ) : null}
      </details>
    </div>
  );
}

/** Loaded when somebody wants it. */
function Grid(props: WeekGridProps) {
  const [found, setFound] = useState<{ readonly WeekGrid: ComponentType<WeekGridProps> }>();
  const [failure, setFailure] = useState<Error>();
  useEffect(() => {
    import("./week-grid.tsx").then(setFound, setFailure);
  }, []);
  if (failure !== undefined) return <Failure failure={failure} />;
  return found === undefined ? null : <found.WeekGrid {...props} />;
}
