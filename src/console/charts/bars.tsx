/** Counts side by side; what a bar consists of is stacked in it, with a pattern beside the colour. */

import { scaleBand } from "d3-scale";
import { useId } from "preact/hooks";
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
  /** What a bar stands for, for who points at it. */
  readonly tip: (bar: Bar<K>) => string;
}

/** A few bars do not become blocks: the most pixels of one. */
const WIDEST = 40;

/** The bars and the axis; what failed is striped. */
export function Bars<K extends string>({ plot, bars, series, tip }: BarsProps<K>) {
  const width = plot.right - plot.left;
  const stripes = useId();
  const scale = scaleBand()
    .domain(bars.map(({ date }) => date))
    .range([plot.left, plot.right])
    .paddingInner(bars.length * 4 > width ? 0 : 0.2);
  const bar = Math.min(scale.bandwidth(), WIDEST);
  const center = (date: string) => (scale(date) ?? 0) + scale.bandwidth() / 2;
  const every = Math.ceil(bars.length / labelsFor(width));
  const ticks = bars
    .filter((_, index) => index % every === 0)
    .map(({ date }) => [center(date), dayLabel(startOf(date))] as const);
  return (
    <>
      <Hatch id={stripes} />
      {bars.map((one) => {
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
                  x={center(date) - bar / 2}
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
  const stripes = useId();
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
