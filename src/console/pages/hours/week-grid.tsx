/** The week as a grid that is painted: with a mouse, a finger, or the arrow keys and the space bar. */

import { useRef, useState } from "preact/hooks";
import { type HoursWindow, WEEKDAYS } from "../../../shared/hours/hours.ts";
import { hoursTexts as texts } from "../../texts/hours/hours.ts";
import { cellsOf, DAY_HOURS, isWhole, painted, WEEK_HOURS, windowsOf } from "./week.ts";

export interface WeekGridProps {
  readonly windows: readonly HoursWindow[];
  readonly onWindows: (windows: readonly HoursWindow[]) => void;
}

/** What is painted in one go: from one corner on, over what there was before. */
interface Stroke {
  readonly from: number;
  readonly before: readonly boolean[];
  readonly isOn: boolean;
}

/** How far each key moves. */
const MOVES: Readonly<Record<string, number>> = {
  ArrowUp: -1,
  ArrowDown: 1,
  ArrowLeft: -DAY_HOURS,
  ArrowRight: DAY_HOURS,
};

/** The windows on the hour as cells; others are shown, and kept whatever is painted. */
export function WeekGrid({ windows, onWindows }: WeekGridProps) {
  const { grid, here, cells, touched, hands } = usePainting(windows, onWindows);
  return (
    <table
      ref={grid}
      class="week"
      // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: a table with cells to choose is a grid, by WAI-ARIA's own examples
      role="grid"
      aria-label={texts.grid}
      aria-multiselectable="true"
      {...hands}
    >
      <thead>
        <tr>
          <th scope="col">{texts.hour}</th>
          {WEEKDAYS.map((day) => (
            <th key={day} scope="col">
              {texts.short[day]}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {Array.from({ length: DAY_HOURS }, (_, hour) => (
          <tr key={hour}>
            <th scope="row">{clock(hour)}</th>
            {WEEKDAYS.map((day, index) => {
              const cell = index * DAY_HOURS + hour;
              return (
                <td
                  key={day}
                  // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: as the grid
                  role="gridcell"
                  data-cell={cell}
                  class={touched[cell] ? "touched" : undefined}
                  tabIndex={cell === here ? 0 : -1}
                  aria-selected={cells[cell] === true}
                  aria-label={texts.cell(texts.days[day], clock(hour), clock(hour + 1))}
                />
              );
            })}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** What is painted, where the focus is, and what hands and keys do. */
function usePainting(windows: WeekGridProps["windows"], onWindows: WeekGridProps["onWindows"]) {
  const grid = useRef<HTMLTableElement>(null);
  const stroke = useRef<Stroke>();
  // Where Tab arrives: at what many weeks begin with.
  const [here, setHere] = useState(8);
  const [isDrawing, setDrawing] = useState(false);
  const cells = cellsOf(windows.filter(isWhole));
  const others = windows.filter((window) => !isWhole(window));
  const touched = cellsOf(others);

  function begin(from: number, isOn: boolean) {
    stroke.current = { from, before: cells, isOn };
  }
  function paintTo(cell: number) {
    if (stroke.current === undefined) return;
    const { from, before, isOn } = stroke.current;
    onWindows([...windowsOf(painted(before, [from, cell], isOn)), ...others]);
  }
  function go(cell: number) {
    setHere(cell);
    grid.current?.querySelector<HTMLElement>(`[data-cell="${cell}"]`)?.focus();
  }
  function onKeyDown(event: KeyboardEvent) {
    const move = MOVES[event.key];
    if (move !== undefined) {
      const next = here + move;
      const isInside = next >= 0 && next < WEEK_HOURS && (move * move > 1 || sameDay(here, next));
      if (event.shiftKey && stroke.current === undefined) begin(here, cells[here] === true);
      if (!event.shiftKey) stroke.current = undefined;
      if (isInside) go(next);
      if (isInside && event.shiftKey) paintTo(next);
    } else if (event.key === " ") {
      begin(here, cells[here] !== true);
      paintTo(here);
    } else return;
    event.preventDefault();
  }
  function onPointerDown(event: PointerEvent) {
    const cell = cellAt(event);
    if (cell === undefined || event.button !== 0) return;
    event.preventDefault();
    begin(cell, cells[cell] !== true);
    setDrawing(true);
    go(cell);
    paintTo(cell);
  }
  const stop = () => setDrawing(false);
  const onPointerMove = (event: PointerEvent) => {
    const cell = isDrawing ? cellAt(event) : undefined;
    if (cell !== undefined) paintTo(cell);
  };
  const ends = { onPointerUp: stop, onPointerCancel: stop, onPointerLeave: stop };
  return { grid, here, cells, touched, hands: { onKeyDown, onPointerDown, onPointerMove, ...ends } };
}

/** The cell below the pointer: a finger that moves stays with the one where it began. */
function cellAt({ clientX, clientY }: PointerEvent): number | undefined {
  const under = document.elementFromPoint(clientX, clientY);
  const cell = under instanceof HTMLElement ? under.dataset.cell : undefined;
  return cell === undefined ? undefined : Number(cell);
}

function sameDay(one: number, other: number): boolean {
  return Math.floor(one / DAY_HOURS) === Math.floor(other / DAY_HOURS);
}

function clock(hour: number): string {
  return `${String(hour).padStart(2, "0")}:00`;
}
