/** What the values of environment variables may be: each parses the text of a variable, or says what is wrong with it. */

import * as v from "valibot";
import { parseTrustedProxies } from "../shared/client-address.ts";
import { databaseUrlFault } from "../shared/database-url.ts";
import { parseDuration } from "../shared/duration.ts";
import { publicMessage } from "../shared/errors.ts";
import { changesDirection, hasControlCharacters } from "../shared/text.ts";

/** A whole number in that range. */
export const count = (minimum: number, maximum: number) =>
  v.pipe(
    v.string(),
    v.regex(/^\d{1,9}$/, "is not a whole number"),
    v.transform(Number),
    v.minValue(minimum, `must be at least ${minimum}`),
    v.maxValue(maximum, `must be at most ${maximum}`),
  );

/** A duration such as 90d, in milliseconds. */
export const duration = (maximum?: number) =>
  v.pipe(
    v.string(),
    v.rawTransform(({ dataset, addIssue, NEVER }) => {
      try {
        return parseDuration(dataset.value, maximum);
      } catch (error) {
        addIssue({ message: `is not a valid duration. ${publicMessage(error)}` });
        return NEVER;
      }
    }),
  );

/** Words separated by spaces or commas. */
export const list = v.pipe(
  v.string(),
  v.transform((value) => value.split(/[\s,]+/).filter((item) => item !== "")),
);

/** Addresses and networks of proxies. */
export const proxies = v.pipe(
  list,
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    try {
      parseTrustedProxies(dataset.value);
    } catch (error) {
      addIssue({ message: `is not valid. ${publicMessage(error)}` });
    }
  }),
);

/** Where PostgreSQL is. */
export const databaseUrl = v.pipe(
  v.string(),
  v.regex(/^postgres(ql)?:\/\//, "must begin with postgres://"),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    const fault = databaseUrlFault(dataset.value);
    if (fault !== undefined) addIssue({ message: fault });
  }),
);

/** An absolute path. */
export const absolute = v.pipe(v.string(), v.regex(/^\/[^\0]*$/, "must be an absolute path"));

/** A switch. */
export const onOff = v.pipe(
  v.picklist(["on", "off"], 'must be "on" or "off"'),
  v.transform((value) => value === "on"),
);

/** Ways to show that a code to log in is worth something; `on` is the name that `both` had before there were two. */
export const captchaMode = v.pipe(
  v.picklist(["image", "proof", "both", "off", "on"], "must be image, proof, both or off"),
  v.transform((value) => (value === "on" ? "both" : value)),
);

/** An origin, as browsers name it. */
export const origin = v.pipe(
  v.string(),
  v.check((value) => isOrigin(value), "must be an origin such as https://uam.example.org, without a path"),
);

/** A line of text. */
export const oneLine = v.pipe(
  v.string(),
  v.trim(),
  v.nonEmpty("is empty"),
  v.maxLength(200, "is longer than 200 characters"),
  v.check((value) => !hasControlCharacters(value) && !changesDirection(value), "must be one line of text"),
);

/** FIRST-LAST. */
export const uidRange = v.pipe(
  v.string(),
  v.regex(/^\d{4,9}-\d{4,9}$/, "must be FIRST-LAST"),
  v.transform((value) => {
    const [first, last] = value.split("-").map(Number) as [number, number];
    return { first, last };
  }),
  v.check(
    (range) => range.first >= 1000 && range.first <= range.last && range.last < 2 ** 31,
    "must be two uids, 1000 or above, the smaller first",
  ),
);

/** A sender of mail. */
export const mailAddress = v.pipe(
  v.string(),
  v.regex(/^(?:[^<>@\r\n]*<[^<>@\s]+@[^<>@\s]+>|[^<>@\s]+@[^<>@\s]+)$/, "must be an address or NAME <ADDRESS>"),
);

function isOrigin(value: string): boolean {
  return URL.canParse(value) && /^https?:$/.test(new URL(value).protocol) && new URL(value).origin === value;
}
