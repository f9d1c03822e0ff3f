/** Building blocks for the schemas of all routes. They validate, and the OpenAPI document is made from them. */

import * as v from "valibot";
import { HIGHEST_HOST } from "../protocol/fleet.ts";
import { MAX_NETWORKS } from "../shared/net/networks.ts";
import { EXPORT_FORMATS } from "../shared/product/export-formats.ts";
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from "../shared/product/page.ts";
import { USERNAME } from "../shared/text/account-name.ts";
import { MAX_FULL_NAME, MAX_NOTE, MAX_PURPOSE, MAX_REASON, MAX_SUPERVISOR } from "../shared/text/person.ts";
import { isLonger } from "../shared/text/text.ts";
import { MAX_DAYS } from "../shared/time/duration.ts";

type Facts = Readonly<Record<string, unknown>>;

/** A text of an answer, with its description for the document; features check the `rules`. */
export function described(example: string, description?: string, rules: Facts = {}) {
  return v.pipe(v.string(), v.metadata(facts(example, description, rules)));
}

/**
 * A text of a request, likewise. PostgreSQL cannot hold NUL, and no field has a use for it. Texts far longer than the rules allow are refused here, so
 * that no feature examines, names or records them.
 */
export function text(example: string, description?: string, rules: Facts = {}) {
  const noNul = v.regex(/^[^\0]*$/, "must not contain NUL characters");
  const most = Number(rules.maxLength ?? Number.POSITIVE_INFINITY);
  const notEndless = v.check((given: string) => !isLonger(given, most), `is longer than ${most} characters`);
  return v.pipe(v.string(), noNul, notEndless, v.metadata(facts(example, description, rules)));
}

/** A number that a feature checks to be whole and within these bounds. */
export function wholeNumber(minimum: number, maximum: number, description: string) {
  return v.pipe(v.number(), v.metadata({ type: "integer", minimum, maximum, description, examples: [30] }));
}

/** A number of things, in answers. */
export function count(example: number) {
  return v.pipe(v.number(), v.integer(), v.minValue(0), v.examples([example]));
}

function facts(example: string, description: string | undefined, rules: Facts) {
  return { ...(description === undefined ? {} : { description }), ...rules, examples: [example] };
}

export const id = v.pipe(v.number(), v.integer(), v.minValue(1), v.examples([7]));
export const timestamp = timestampLike("2026-11-20T08:00:00.000Z");
/** When a user expires. */
export const expiry = timestampLike("2027-02-18T08:00:00.000Z");

/** Fields about a person that users and applications share, in answers. */
export const person = {
  username: described("alice", "Without the prefix `ext_`"),
  email: described("alice@example.org"),
  full_name: described("Alice Andersson", "The person's name; empty where none is given"),
  supervisor: described("Bo Lindqvist"),
  purpose: described("Maintenance of the build servers"),
};

/** The same in requests; the features check it. */
export const newPerson = {
  username: text("alice", "Without the prefix `ext_`", { pattern: USERNAME.source }),
  email: text("alice@example.org", "One address", { format: "email", maxLength: 254 }),
  full_name: v.optional(text("Alice Andersson", "The person's name", { maxLength: MAX_FULL_NAME })),
  supervisor: v.optional(text("Bo Lindqvist", undefined, { maxLength: MAX_SUPERVISOR })),
  purpose: v.optional(text("Maintenance of the build servers", undefined, { maxLength: MAX_PURPOSE })),
};

const SPONSOR =
  "The address of who answers for them, in lower case; empty: nobody, or whoever does so for their company";

/** Who answers for somebody, in answers. */
export const sponsor = described("bo@example.org", SPONSOR);

/** The same in requests; the features check it. */
export const givenSponsor = v.optional(text("bo@example.org", SPONSOR, { maxLength: 254 }));

const PROFILE = "What they may do on hosts, by the name of a profile; null: what the hosts let any account do";

/** A user's profile, in answers. */
export const shownProfile = v.pipe(v.nullable(described("drop-box")), v.description(PROFILE));

/** The same in requests. */
export const givenProfile = v.optional(v.nullable(text("drop-box", PROFILE, { maxLength: 24 })));

/** A note about a user that administrators write for their colleagues, in answers. */
export const note = described("Works nights", "For administrators; the user cannot read it");

/** The same in requests; the features check it. */
export const givenNote = v.optional(
  text("Works nights", "For administrators; the user cannot read it. Empty for none", { maxLength: MAX_NOTE }),
);

/** Why something is done to a user, in requests; the features check it. */
export const givenReason = v.optional(
  text("The project is over", "For the audit record; administrators see it, the user does not", {
    maxLength: MAX_REASON,
  }),
);

/** Networks in CIDR notation, in answers. */
export function networks(description: string) {
  return v.pipe(v.array(described("192.0.2.0/24")), v.description(description));
}

/** The same in requests; the features check them. */
export function newNetworks(description: string) {
  const rule = "a network whose host bits are set is refused, and IPv4-mapped IPv6 is IPv4";
  const entries = text("192.0.2.0/24", "An address stands for a network of its own");
  return v.optional(listOf(entries, MAX_NETWORKS, `${description}; ${rule}`));
}

/** A list of a request: it is refused for its length before any of its items is looked at. */
export function listOf<const S extends v.GenericSchema>(item: S, most: number, description?: string) {
  const length = v.maxLength<v.InferOutput<S>[], number, string>(most, `must have at most ${most} entries`);
  const list = v.array(item);
  const whole = v.pipe(list, length, v.metadata(description === undefined ? {} : { description }));
  const run: (typeof whole)["~run"] = (dataset, config) =>
    Array.isArray(dataset.value) && dataset.value.length > most
      ? (length["~run"]({ typed: true, value: dataset.value }, config) as ReturnType<(typeof whole)["~run"]>)
      : whole["~run"](dataset, config);
  return { ...whole, "~run": run };
}

export const ttlDays = v.optional(wholeNumber(0, MAX_DAYS, "Days until expiry; 0, or none, means the default"));

function timestampLike(example: string) {
  return v.pipe(
    v.string(),
    v.isoTimestamp(),
    v.metadata({ description: "UTC, RFC 3339 with milliseconds", examples: [example] }),
  );
}

/** An answer with nothing but the new state. */
export function statusOf<const T extends string>(status: T) {
  return v.object({ status: v.literal(status) });
}

/** The format of an export. */
export const exportFormat = v.optional(
  v.pipe(v.picklist(EXPORT_FORMATS), v.description("Without it `Accept` decides, and else it is CSV")),
);

/** One page of a list. */
export function pageOf<S extends v.GenericSchema>(item: S) {
  return v.object({ total: count(1), items: v.array(item) });
}

/** A whole list. */
export function listed<S extends v.GenericSchema>(item: S) {
  return v.object({ items: v.array(item) });
}

/** An id as text: digits only. One too large for the database becomes 0, which no row has. */
export function idNumber(description?: string, largest = Number.MAX_SAFE_INTEGER) {
  return v.pipe(
    v.string(),
    v.regex(/^\d+$/, "must be an unsigned integer"),
    v.metadata({ type: "integer", minimum: 0, examples: [7], ...(description === undefined ? {} : { description }) }),
    v.transform((text) => (Number(text) <= largest ? Number(text) : 0)),
  );
}

/** `:id`. */
export const IdParams = v.object({ id: idNumber() });

/** `:id` of a host, whose numbers are smaller. */
export const HostIdParams = v.object({ id: idNumber(undefined, HIGHEST_HOST) });

/** No list has as many pages; times the largest page size it is still an exact integer in JavaScript and PostgreSQL. */
const FARTHEST = 1e12;

/** A whole number of at least 1, however many digits it has. */
function pageNumber(fallback: number, facts: { readonly description: string; readonly maximum?: number }) {
  const { maximum = FARTHEST } = facts;
  return v.optional(
    v.pipe(
      v.string(),
      v.regex(/^0*[1-9]\d*$/, "must be a whole number of at least 1"),
      v.metadata({ type: "integer", minimum: 1, ...facts }),
      v.transform((text) => Math.min(Number(text), FARTHEST)),
      v.maxValue(maximum, `must be at most ${maximum}`),
    ),
    String(fallback),
  );
}

/** Which page of a list, as query parameters; a query with them goes through `pageIn`. */
export const pageFields = {
  page: pageNumber(1, { description: "Which page; one past the end is empty" }),
  page_size: pageNumber(DEFAULT_PAGE_SIZE, { description: "Items on a page", maximum: MAX_PAGE_SIZE }),
};

/** The query with its page as one value, as operations take it. */
export function pageIn<Query extends { readonly page: number; readonly page_size: number }>({
  page,
  page_size: pageSize,
  ...filters
}: Query) {
  return { ...filters, page: { page, pageSize } };
}

export const PageQuery = v.pipe(v.object(pageFields), v.transform(pageIn));
