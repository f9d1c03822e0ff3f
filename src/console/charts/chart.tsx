/** Shared by all charts: the figure with its caption and its table, the axes, and the legend. */

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { number } from "../texts/language.ts";
import { type Column, Table } from "../ui/table.tsx";
import { useUniqueId } from "../unique-id.ts";
import { marks } from "./series.ts";

export const HEIGHT = 200;
const MARGIN = { top: 8, right: 12, bottom: 24, left: 36 } as const;

/** Where the values are drawn. */
export interface Plot {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
  /** The height of a value, from the top. */
  readonly y: (value: number) => number;
}

interface Row {
  readonly id: string;
}

interface ChartProps<T extends Row> {
  readonly caption: string;
  /** A sentence on what the chart shows: for people who cannot see it, and below the caption for those who can. */
  readonly summary: string;
  /** The way to what it is about. */
  readonly more?: ComponentChildren;
  /** The marks, as they are drawn in an area of 28 by 12, and what they stand for. */
  readonly legend?: readonly (readonly [mark: ComponentChildren, name: string])[];
  /** All values, for the scale. */
  readonly values: readonly number[];
  readonly table: { readonly label: string; readonly columns: readonly Column<T>[]; readonly items: readonly T[] };
  /** The drawing. */
  readonly children: (plot: Plot) => ComponentChildren;
}

/** A chart as wide as its place, with its figures as a table behind it; a sentence if it would show nothing. */
export function Chart<T extends Row>(props: ChartProps<T>) {
  return props.values.some((value) => value !== 0) ? (
    <Drawn {...props} />
  ) : (
    <p class="quiet">
      {props.caption}: {props.summary}
    </p>
  );
}

function Drawn<T extends Row>({ caption, summary, more, legend = [], values, table, children }: ChartProps<T>) {
  const [place, width] = useWidth();
  const id = useUniqueId();
  const ticks = marks(values);
  const most = ticks.at(-1) ?? 1;
  const y = (value: number) => HEIGHT - MARGIN.bottom - (value / most) * (HEIGHT - MARGIN.bottom - MARGIN.top);
  const plot = {
    ...{ left: MARGIN.left, right: width - MARGIN.right, top: MARGIN.top, bottom: HEIGHT - MARGIN.bottom },
    y,
  };
  return (
    <figure class="card chart">
      <figcaption>
        <strong>{caption}</strong>
        <span class="hint" id={id}>
          {summary}
        </span>
        {more}
      </figcaption>
      <div ref={place}>
        <svg role="img" aria-label={caption} aria-describedby={id} width={width} height={HEIGHT}>
          {ticks.map((tick) => (
            <g key={tick}>
              <line class="grid" x1={plot.left} x2={plot.right} y1={y(tick)} y2={y(tick)} />
              <text x={plot.left - 6} y={y(tick) + 4} text-anchor="end">
                {number(tick)}
              </text>
            </g>
          ))}
          {children(plot)}
        </svg>
      </div>
      {legend.length === 0 ? null : (
        <ul class="legend" aria-hidden="true">
          {legend.map(([mark, name]) => (
            <li key={name}>
              <svg width="28" height="12" aria-hidden="true">
                {mark}
              </svg>
              {name}
            </li>
          ))}
        </ul>
      )}
      <details>
        <summary>{table.label}</summary>
        <Table caption={caption} columns={table.columns} items={table.items} />
      </details>
    </figure>
  );
}

interface AxisProps {
  readonly plot: Plot;
  readonly ticks: readonly (readonly [x: number, label: string])[];
}

/** The labels below a chart; those at the edges stay inside. */
export function TimeAxis({ plot, ticks }: AxisProps) {
  return (
    <>
      <line class="axis" x1={plot.left} x2={plot.right} y1={plot.bottom} y2={plot.bottom} />
      {ticks.map(([x, label]) => (
        <text
          key={x}
          x={x}
          y={plot.bottom + 17}
          text-anchor={x - plot.left < 24 ? "start" : plot.right - x < 24 ? "end" : "middle"}
        >
          {label}
        </text>
      ))}
    </>
  );
}

/** Until the place is measured, the narrowest one. */
const NARROWEST = 260;

/** The width of the element, in pixels, as it changes. */
function useWidth() {
  const place = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(NARROWEST);
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const observer = new ResizeObserver(([entry]) => {
      if (entry !== undefined) setWidth(Math.max(NARROWEST - 60, Math.floor(entry.contentRect.width)));
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [place, width] as const;
}
