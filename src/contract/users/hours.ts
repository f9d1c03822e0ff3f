/** When a user's access is open: start, end and hours of the week. */

import * as v from "valibot";
import { MAX_WINDOWS, WEEKDAYS } from "../../shared/hours/hours.ts";
import { MAX_REQUEST_GROUPS, MAX_REQUEST_HOURS } from "../../shared/hours/on-request.ts";
import { MAX_SPAN_DAYS } from "../../shared/hours/windows.ts";
import { ACCESS_STATES, HOURS_ENDS, REQUEST_RULES } from "../../shared/product/statuses.ts";
import { isTimestamp } from "../../shared/time/timestamp.ts";
import { described, listOf, text, timestamp, wholeNumber } from "../fields.ts";

const ZONE = "An IANA time zone; changes of its clock are followed";
const FROM = "Local time, `HH:MM`";
const TO = "Likewise, or `24:00`; one before `from` is on the next day";

const window = v.object({
  days: listOf(v.picklist(WEEKDAYS), WEEKDAYS.length, "The days on which the window begins"),
  from: text("08:00", FROM, { maxLength: 5 }),
  to: text("18:00", TO, { maxLength: 5 }),
});

/** In requests; the features check them. */
export const givenHours = v.optional(
  v.nullable(
    v.pipe(
      v.object({ zone: text("Europe/Berlin", ZONE, { maxLength: 60 }), windows: listOf(window, MAX_WINDOWS) }),
      v.description(
        "The hours of the week in which access is open, by sshd's own clock; null, or no windows, for always",
      ),
    ),
  ),
);

const hoursEnd = v.pipe(
  v.picklist(HOURS_ENDS),
  v.description(
    "What ends with the hours: `sessions`, everything that runs, or `logins`, so that what is open stays until `expire_at`",
  ),
);

/** In requests. */
export const givenHoursEnd = v.optional(hoursEnd);
const RULE =
  "Who allows it: `self`, at once, in a session that logged in within 15 minutes; `sponsor`, asked by mail; or `review`, whoever decides about applications";
const GROUPS =
  "The groups of hosts, by name, whose hosts they may ask for; absent: every host of theirs. Other groups end what is allowed";
const MOST_HOURS = "Access never reaches further than this from the moment at which it is asked for or allowed";

/** In requests; the features check them. */
export const givenOnRequest = v.optional(
  v.nullable(
    v.pipe(
      v.object({
        rule: v.pipe(v.picklist(REQUEST_RULES), v.description(RULE)),
        max_hours: wholeNumber(1, MAX_REQUEST_HOURS, MOST_HOURS),
        groups: v.optional(listOf(text("web", undefined, { maxLength: 63 }), MAX_REQUEST_GROUPS, GROUPS)),
      }),
      v.description("No access until the user asks for it, each time; null: they need not ask"),
    ),
  ),
);

/** In records. */
export const shownOnRequest = v.object({
  rule: v.pipe(v.picklist(REQUEST_RULES), v.description(RULE)),
  max_hours: v.pipe(v.number(), v.integer(), v.examples([4]), v.description(MOST_HOURS)),
  groups: v.optional(v.pipe(v.array(described("web")), v.description(GROUPS))),
});

/** A moment in a request. */
export function givenMoment(example: string, description: string) {
  return v.pipe(
    text(example, description, { format: "date-time", maxLength: 64 }),
    v.check(isTimestamp, "is not an RFC 3339 timestamp such as 2026-11-20T08:00:00Z"),
  );
}

export const shownHours = v.pipe(
  v.nullable(
    v.object({
      zone: described("Europe/Berlin", ZONE),
      windows: v.array(
        v.object({
          days: v.array(v.picklist(WEEKDAYS)),
          from: described("08:00", FROM),
          to: described("18:00", TO),
        }),
      ),
    }),
  ),
  v.description("The hours of the week in which access is open; null for always"),
);

/** Whether access is open. */
export const accessNow = {
  access: v.pipe(
    v.picklist(ACCESS_STATES),
    v.description(
      "Whether the user gets in now: `not_yet` is before `starts_at`, `outside_hours` outside the hours, `on_request` is within them and has to ask first, and `closed` is disabled or expired",
    ),
  ),
  access_changes_at: v.pipe(
    v.nullable(timestamp),
    v.description("When `access` changes next by itself; null: not before `expire_at`"),
  ),
};

/** In records. */
export const accessTimes = {
  starts_at: v.pipe(v.nullable(timestamp), v.description("When access begins or began; null: at the creation")),
  hours: shownHours,
  hours_end: hoursEnd,
  on_request: v.pipe(
    v.nullable(shownOnRequest),
    v.description("Whom they ask for access, each time; null: they need not ask"),
  ),
  ...accessNow,
};

export const HoursQuery = v.object({
  host: v.optional(
    text("web1", "Of this host, by name or id: within the hours of its groups, too", { maxLength: 255 }),
  ),
  from: v.optional(givenMoment("2026-12-01T00:00:00Z", "By default, now")),
  to: v.optional(
    givenMoment("2026-12-08T00:00:00Z", `By default, a week after \`from\`; at most ${MAX_SPAN_DAYS} days after it`),
  ),
});

export const UserHours = v.pipe(
  v.object({
    zone: v.pipe(v.nullable(described("Europe/Berlin")), v.description("The zone of the hours; null without hours")),
    windows: v.array(
      v.object({
        from: v.pipe(timestamp, v.description("Open from this moment on")),
        to: v.pipe(timestamp, v.description("No longer at this one")),
      }),
    ),
  }),
  v.title("UserHours"),
);
