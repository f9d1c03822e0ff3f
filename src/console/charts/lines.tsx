/** How several counts went, day by day: a line for each, which differ by their dashes, too. */

import { type Plot, TimeAxis } from "./chart.tsx";
import { datesBetween, dayLabel, labelsFor, startOf } from "./series.ts";

interface LinesProps<K extends string> {
  readonly plot: Plot;
  readonly days: readonly ({ readonly date: string } & Readonly<Record<K, number>>)[];
  readonly series: readonly K[];
  /** The label of a day's figures, shown to people who point at it. */
  readonly tip: (day: { readonly date: string } & Readonly<Record<K, number>>) => string;
}

/** A disc, a square, a triangle: 64 square points each, around the origin. */
const SHAPES = ["M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0Z", "M-4 -4H4V4H-4Z", "M0 -7L6.1 3.5H-6.1Z"] as const;

/** The shape of a series' last value: where there is one day only, there are no dashes to tell the lines apart by. */
function shapeOf(index: number): string {
  return SHAPES[index % SHAPES.length] ?? SHAPES[0];
}

/** A line through the points that keeps each value until the next: counts do not change gradually. */
function steps(points: readonly (readonly [x: number, y: number])[]): string {
  return points.map(([x, y], index) => (index === 0 ? `M${x} ${y}` : `H${x}V${y}`)).join("");
}

/** The lines, the last value of each as a shape of its own, and the axis. */
export function Lines<K extends string>({ plot, days, series, tip }: LinesProps<K>) {
  const [first, last] = [days[0], days.at(-1)];
  if (first === undefined || last === undefined) return null;
  const all = datesBetween(first.date, last.date);
  const places = new Map(all.map((date, index) => [date, index]));
  const step = (plot.right - plot.left) / Math.max(1, all.length - 1);
  // One day has no extent; it is drawn at the end.
  const x = (date: string) => (all.length === 1 ? plot.right : plot.left + step * (places.get(date) ?? 0));
  const every = Math.ceil(all.length / labelsFor(plot.right - plot.left));
  const ticks = all
    .filter((_, index) => index % every === 0)
    .map((date) => [x(date), dayLabel(startOf(date))] as const);
  return (
    <>
      <TimeAxis plot={plot} ticks={ticks} />
      {series.map((name, index) => {
        const path = steps(days.map((day) => [x(day.date), plot.y(day[name])]));
        return (
          <g key={name}>
            <path class={`line ${name}`} d={path} />
            <path
              class={`dot ${name}`}
              d={shapeOf(index)}
              transform={`translate(${x(last.date)} ${plot.y(last[name])})`}
            />
          </g>
        );
      })}
      {days.map((day) => (
        <rect
          key={day.date}
          class="touch"
          x={x(day.date) - step / 2}
          y={plot.top}
          width={step}
          height={plot.bottom - plot.top}
        >
          <title>{tip(day)}</title>
        </rect>
      ))}
    </>
  );
}

/** The mark of a series in the legend. */
export function LineMark({ name, index }: { readonly name: string; readonly index: number }) {
  return (
    <>
      <line class={`line ${name}`} x1="1" x2="27" y1="6" y2="6" />
      <path class={`dot ${name}`} d={shapeOf(index)} transform="translate(22 6)" />
    </>
  );
}
