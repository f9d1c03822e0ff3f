/** Counts side by side; what a bar consists of is stacked in it, with a pattern beside the colour. */

import { useUniqueId } from "../unique-id.ts";
import { type Plot, TimeAxis } from "./chart.tsx";
import { dayLabel, labelsFor, startOf } from "./series.ts";

interface Bar<K extends string> {
  readonly date: string;
  readonly values: Readonly<Record<K, number>>;
}

interface BarsProps<K extends string> {
  readonly plot: Plot;
  readonly bars: readonly Bar<K>[];
  /** From the bottom up. */
  readonly series: readonly K[];
  /** The label of a bar, shown to people who point at it. */
  readonly tip: (bar: Bar<K>) => string;
}

/** A few bars do not become blocks: the most pixels of one. */
const WIDEST = 40;
/** Of a bar and its gap, what is gap. */
const GAP = 0.2;

/** The bars and the axis; what failed is striped. */
export function Bars<K extends string>({ plot, bars, series, tip }: BarsProps<K>) {
  const width = plot.right - plot.left;
  const stripes = useUniqueId();
  // Each bar and the gap behind it; the last has none.
  const gap = bars.length * 4 > width ? 0 : GAP;
  const step = width / (bars.length - gap);
  const bar = Math.min(step * (1 - gap), WIDEST);
  const center = (index: number) => plot.left + step * (index + (1 - gap) / 2);
  const every = Math.ceil(bars.length / labelsFor(width));
  const ticks = bars
    .map(({ date }, index) => [center(index), dayLabel(startOf(date))] as const)
    .filter((_, index) => index % every === 0);
  return (
    <>
      <Hatch id={stripes} />
      {bars.map((one, index) => {
        const { date, values } = one;
        let below = 0;
        return (
          <g key={date}>
            <title>{tip(one)}</title>
            {series.map((name) => {
              const from = plot.y(below);
              below += values[name];
              const to = plot.y(below);
              return (
                <rect
                  key={name}
                  class={markOf(name)}
                  fill={`url(#${stripes})`}
                  x={center(index) - bar / 2}
                  y={to}
                  width={bar}
                  height={from - to}
                />
              );
            })}
          </g>
        );
      })}
      <TimeAxis plot={plot} ticks={ticks} />
    </>
  );
}

/** The mark of a series in the legend. */
export function BarMark({ name }: { readonly name: string }) {
  const stripes = useUniqueId();
  return (
    <>
      <Hatch id={stripes} />
      <rect class={markOf(name)} fill={`url(#${stripes})`} x="1" y="1" width="26" height="10" />
    </>
  );
}

function markOf(name: string): string {
  return name === "failed" ? "striped" : "bar";
}

/** The stripes of what failed. */
function Hatch({ id }: { readonly id: string }) {
  return (
    <defs>
      <pattern id={id} width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <rect class="hatch-ground" width="5" height="5" />
        <rect class="hatch-stripe" width="2" height="5" />
      </pattern>
    </defs>
  );
}
