/** Arguments and options that several commands share. */

import type { Message } from "@optique/core/message";
import { message, text } from "@optique/core/message";
import { map, multiple, optional, withDefault } from "@optique/core/modifiers";
import { argument, option } from "@optique/core/primitives";
import { choice, integer, string, type ValueParser } from "@optique/core/valueparser";
import { publicMessage, UamError } from "../../shared/errors.ts";
import { MAX_PAGE_SIZE } from "../../shared/product/page.ts";
import { systemClock } from "../../shared/time/clock.ts";
import { MAX_DAYS, parseDuration } from "../../shared/time/duration.ts";
import { formatTimestamp } from "../../shared/time/timestamp.ts";
import { stored } from "./completion.ts";
import { type DayEdge, parseEnd, parseMoment } from "./moment.ts";

/** Longer than the API's: a terminal has room. */
const DEFAULT_PAGE_SIZE = 50;

/** `--json`. */
export function jsonFlag() {
  return option("--json", { description: message`Print JSON, in the shape of the API's records.` });
}

/** `NAME`: a user by name or by id. */
export function userArgument() {
  return argument(stored("NAME", "users"), { description: message`The user's name or id.` });
}

/** `--page` and `--page-size`. */
export function pageOptions() {
  return {
    page: withDefault(
      option("--page", integer({ min: 1, max: 999_999_999, metavar: "N" }), {
        description: message`The page to show; page 1 has the newest.`,
      }),
      1,
    ),
    pageSize: withDefault(
      option("--page-size", integer({ min: 1, max: MAX_PAGE_SIZE, metavar: "N" }), {
        description: message`Items on a page, at most ${text(String(MAX_PAGE_SIZE))}; the default is ${text(String(DEFAULT_PAGE_SIZE))}.`,
      }),
      DEFAULT_PAGE_SIZE,
    ),
  };
}

/** One of the values, in any case. */
export function oneOf<const T extends string>(
  values: readonly T[],
  metavar: Uppercase<string>,
): ValueParser<"sync", T> {
  return choice(values, { metavar: metavar as "STATUS", caseInsensitive: true });
}

/** An option with a text. */
export function textOption(name: `--${string}`, metavar: Uppercase<string>, description: Message) {
  return optional(option(name, string({ metavar: metavar as "TEXT" }), { description }));
}

/** `--reason`. */
export function reasonOption() {
  return textOption("--reason", "TEXT", message`Why, for the audit record; the user does not see it.`);
}

/** `--network`, as often as needed; undefined if it is not given, none for the word "any". */
export function networkOptions() {
  const description = message`From where the account may be used for SSH: a network such as 192.0.2.0/24, or an address; may be repeated. "any" for anywhere.`;
  return map(multiple(option("--network", string({ metavar: "CIDR" }), { description })), (given) => {
    if (given.length === 0) return undefined;
    return given.every((network) => network === "any") ? [] : given;
  });
}

/** An option with a number of days. Without it `policy.default_ttl` applies, as for 0 in the API. */
export function daysOption(name: `--${string}`, description: Message) {
  return optional(option(name, checked("DAYS", 1, parseDays, String), { description }));
}

/** Throws `invalid` for anything but a number of days that an account may be given. */
export function parseDays(input: string): number {
  const days = /^\d{1,4}$/.test(input) ? Number(input) : 0;
  if (days >= 1 && days <= MAX_DAYS) return days;
  throw new UamError("invalid", `The number of days must be a whole number from 1 to ${MAX_DAYS}`);
}

/** The word that lifts a limit. */
const NONE = "none";

/** An option with a number from 1 on, or "none" for null. */
export function numberOrNone(name: `--${string}`, most: number, description: Message) {
  const parse = (input: string) => {
    if (input === NONE) return null;
    const number = /^\d{1,9}$/.test(input) ? Number(input) : 0;
    if (number >= 1 && number <= most) return number;
    throw new UamError("invalid", `It must be a whole number from 1 to ${most}, or "${NONE}"`);
  };
  return optional(option(name, checked<number | null>("N", null, parse, String), { description }));
}

/** An option with a moment to come, whose day may be enough, or "none" for null. */
export function timeOrNone(name: `--${string}`, description: Message) {
  const parse = (input: string) => {
    if (input === NONE) return null;
    if (/^\d{4}-/.test(input)) return parseMoment(input, "end", systemClock.now());
    throw new UamError(
      "invalid",
      `It must be a time such as 2026-11-20T08:00:00Z, a date such as 2026-11-20, or "${NONE}"`,
    );
  };
  const format = (moment: Date | null) => (moment === null ? NONE : formatTimestamp(moment));
  return optional(option(name, checked<Date | null>("TIME", null, parse, format), { description }));
}

/** `--since` and `--until`, both inclusive. */
export function periodOptions() {
  return {
    since: optional(
      option("--since", moment("start"), {
        description: message`From this time on: RFC 3339, a date (its start, UTC), or how long ago, such as 7d.`,
      }),
    ),
    until: optional(
      option("--until", moment("end"), {
        description: message`Up to this time: RFC 3339, a date (its end, UTC), or how long ago, such as 12h.`,
      }),
    ),
  };
}

/** An option with an end of access. */
export function endOption(name: `--${string}`) {
  const description = message`When access ends: RFC 3339, or a date (its end, UTC).`;
  return optional(option(name, checked("TIME", new Date(0), parseEnd, formatTimestamp), { description }));
}

/** A duration such as `30s`, in milliseconds. */
export function duration(): ValueParser<"sync", number> {
  return checked("DURATION", 0, (input) => parseDuration(input), String);
}

/** A duration such as `30d`, as it was typed. */
export function durationText(): ValueParser<"sync", string> {
  return checked(
    "TIME",
    "",
    (input) => {
      parseDuration(input);
      return input;
    },
    String,
  );
}

/** A moment such as `2026-11-20`, `7d` (ago), or RFC 3339. */
export function moment(edge: DayEdge): ValueParser<"sync", Date> {
  return checked("TIME", new Date(0), (input) => parseMoment(input, edge, systemClock.now()), formatTimestamp);
}

/** A value parser made from a function that throws `invalid`. */
function checked<T>(
  metavar: "TIME" | "DURATION" | "DAYS" | "N",
  placeholder: T,
  parse: (input: string) => T,
  format: (value: T) => string,
): ValueParser<"sync", T> {
  return {
    mode: "sync",
    metavar,
    placeholder,
    format,
    parse(input) {
      try {
        return { success: true, value: parse(input) };
      } catch (error) {
        if (!(error instanceof UamError)) throw error;
        return { success: false, error: [{ type: "text", text: `${publicMessage(error)}.` }] };
      }
    },
  };
}
