/** How the records that match a filter are found block by block, and those among them that hold a text. */

import { MAX_SEARCH } from "../../shared/product/limits.ts";
import { parseText } from "../../shared/text/text.ts";
import { type AuditFilter, type AuditRange, actionsOf, lookupOf } from "./audit.ts";

export type Parameter = string | number | null;

/** A piece of SQL whose parameters begin at `$1`. */
export interface Piece {
  readonly text: string;
  readonly parameters: readonly Parameter[];
}

/**
 * A call that returns `total` and `ids` of the matching records in the range, newest first; two more parameters follow: how many it
 * skips, and how many it returns. Undefined if all records of the range match.
 */
export function matchingPage(filter: AuditFilter, { first, last }: AuditRange): Piece | undefined {
  const { kind, values } = lookupOf(filter);
  if (kind === "all") return undefined;
  const { series = null, subject = null, actions = null } = values;
  const { actor = null, resourceId = null } = filter;
  const range = [actions, first, last];
  return kind === "series"
    ? {
        text: "public.audit_page($1, $2, $3, $4, string_to_array($5, ','), $6, $7, $8, $9)",
        parameters: [series, actor, resourceId, subject, ...range],
      }
    : {
        text: "public.audit_subject_page($1, $2, $3, string_to_array($4, ','), $5, $6, $7, $8)",
        parameters: [subject, actor, resourceId, ...range],
      };
}

/** Whether a record matches the filter, but for its time and the text; the parameters come after `before` others. */
export function matchesFilter(
  { userId, actor, action, resourceType, resourceId, result }: AuditFilter,
  before: number,
): Piece {
  const isOfAny = action === undefined && resourceType === undefined;
  const wanted = [
    ["subject_id = #", userId],
    ["actor = #", actor],
    ["resource_id = #", resourceId],
    ["action = any(string_to_array(#, ','))", isOfAny ? undefined : actionsOf({ action, resourceType }).join(",")],
  ].flatMap(([text, value]) => (value === undefined ? [] : [[String(text), value] as const]));
  const conditions = wanted.map(([text], index) => text.replace("#", `$${before + index + 1}`));
  return {
    text: [...hasResult(result), ...conditions].join(" and ") || "true",
    parameters: wanted.map(([, value]) => value),
  };
}

/** In the statement itself: by a parameter, the index of the records that failed is not found. */
const HAS_RESULT = { success: "result = 'success'", failed: "result = 'failed'" } as const;

/** The condition that a record has the result; none where any will do. */
export function hasResult(result: AuditFilter["result"]): readonly string[] {
  return result === undefined ? [] : [HAS_RESULT[result]];
}

/** The search, trimmed and in NFC; "" for none. Throws `invalid` for one that no record could hold. */
export function parseSearch(search: string | undefined): string {
  return parseText("search", search ?? "", MAX_SEARCH);
}

/**
 * Whether a record holds the text, in any case and literally: in its actor, its resource id, its address, or a value of its detail. Its
 * parameters come after `before` others.
 */
export function holdsText(search: string, before: number): Piece {
  // Letters beyond ASCII take PostgreSQL several times as long, and matter only where some are searched for.
  const collation = /^[\x20-\x7e]*$/.test(search) ? ' collate "C"' : "";
  const lower = (text: string) => `lower((${text})${collation})`;
  const [plain, escaped] = [`$${before + 1}::text`, `$${before + 2}::text`].map(lower);
  const holds = (text: string, wanted = plain) => `strpos(${lower(text)}, ${wanted}) > 0`;
  // Most records are ruled out by the whole detail; of the others the names of its fields do not count.
  const values = `regexp_replace(left(detail, -1), '[{,]"[a-z0-9_]+":', E'\\n', 'g')`;
  return {
    text: `(${holds("actor || E'\\n' || resource_id || E'\\n' || ip")} or (${holds("detail", escaped)} and ${holds(values, escaped)}))`,
    parameters: [search, JSON.stringify(search).slice(1, -1)],
  };
}
