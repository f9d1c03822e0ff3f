/** The detail of an audit record. What it holds was recorded; how, nobody promised: so it is read with care. */

export type Detail = Readonly<Record<string, unknown>>;

/** The detail, which is a JSON object as text; empty if it is anything else. */
export function readDetail(text: string): Detail {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Detail) : {};
  } catch {
    return {};
  }
}

/** The value if it is a text, else "". */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The value if it is a number, else 0. */
export function numberOf(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}

/** The names of what was changed: their old values are recorded under old_…. */
export function changedIn(detail: Detail): readonly string[] {
  return Object.keys(detail).flatMap((name) => (name.startsWith("old_") ? [name.slice("old_".length)] : []));
}
