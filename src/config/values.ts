/** Parsers for the values of environment variables: each parses the text of a variable, or says why it is wrong. */

import * as v from "valibot";
import { publicMessage } from "../shared/errors.ts";
import { parseTrustedProxies } from "../shared/net/client-address.ts";
import { databaseUrlFault } from "../shared/net/database-url.ts";
import { parseNetworks } from "../shared/net/networks.ts";
import { parseAuditStream } from "../shared/product/audit-stream.ts";
import { parseRoleRule } from "../shared/product/role-rules.ts";
import { isEmail } from "../shared/text/person.ts";
import { changesDirection, hasControlCharacters } from "../shared/text/text.ts";
import { parseDuration } from "../shared/time/duration.ts";

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
export const duration = (maximum?: number) => durationWhere((text) => parseDuration(text, maximum));

/** A duration, or `off`, which is 0. */
export const durationOrOff = durationWhere((text) => (text === "off" ? 0 : parseDuration(text)));

function durationWhere(parse: (text: string) => number) {
  return v.pipe(
    v.string(),
    v.rawTransform(({ dataset, addIssue, NEVER }) => {
      try {
        return parse(dataset.value);
      } catch (error) {
        addIssue({ message: `is not a valid duration. ${publicMessage(error)}` });
        return NEVER;
      }
    }),
  );
}

/** Words separated by spaces or commas. */
export const list = v.pipe(
  v.string(),
  v.transform((value) => value.split(/[\s,]+/).filter((item) => item !== "")),
);

/** Domains of addresses, in lower case; one that begins with a dot stands for its subdomains. */
export const mailDomains = v.pipe(
  list,
  v.array(v.pipe(v.string(), v.toLowerCase(), v.check(isMailDomain, "has an entry that is no domain"))),
);

/** Names of groups, as useradd(8) takes them. */
export const groupNames = v.pipe(
  list,
  v.array(v.pipe(v.string(), v.regex(/^[a-z_][a-z0-9_-]{0,31}$/, "has a name that no group can have"))),
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

/** Networks as CIDRs. */
export const networks = v.pipe(
  list,
  v.rawTransform(({ dataset, addIssue, NEVER }) => {
    try {
      return parseNetworks(dataset.value);
    } catch (error) {
      addIssue({ message: `is not valid. ${publicMessage(error)}` });
      return NEVER;
    }
  }),
);

/** Where audit records are streamed to. */
export const auditStream = v.pipe(
  v.string(),
  v.check(
    (value) => parseAuditStream(value) !== undefined,
    "must be syslog+tls://HOST:PORT, syslog://HOST:PORT or file:/PATH",
  ),
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

/** A directory below the root as it is written shortest; `..` is refused, because it may lead to the root, or elsewhere than it seems. */
export const directory = v.pipe(
  absolute,
  v.transform((path) => `/${partsOf(path).join("/")}`),
  v.check(
    (path) => path !== "/" && !partsOf(path).includes(".."),
    "must be a directory below /, such as /home, without ..",
  ),
);

function partsOf(path: string): readonly string[] {
  return path.split("/").filter((part) => part !== "" && part !== ".");
}

/** A switch. */
export const onOff = v.pipe(
  v.picklist(["on", "off"], 'must be "on" or "off"'),
  v.transform((value) => value === "on"),
);

/** The proofs needed for a login code; `on` is the name that `both` had before there were two. */
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

/** Any text but an empty one: of a secret only its owner knows more. */
export const nonEmpty = v.pipe(v.string(), v.nonEmpty("is empty"));

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

/** A program to run: its path and arguments, separated by spaces, which are all that is special. */
export const programWords = v.pipe(
  v.string(),
  v.check((value) => !hasControlCharacters(value), "must be one line of text"),
  v.transform((value) => ({ argv: value.split(" ").filter((word) => word !== "") })),
  v.check(({ argv: [path = ""] }) => path.startsWith("/"), "must begin with the absolute path of a program"),
);

function isMailDomain(value: string): boolean {
  return isEmail(`a@${value.replace(/^\./, "")}`);
}

function isOrigin(value: string): boolean {
  return URL.canParse(value) && /^https?:$/.test(new URL(value).protocol) && new URL(value).origin === value;
}

/** The issuer of single sign-on: its answers are trusted, so nobody on the way may change them. */
export const issuer = v.pipe(
  v.string(),
  v.check(isIssuer, "must be an address such as https://login.example.org/realms/staff, without a query"),
);

function isIssuer(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password, search, hash } = new URL(text);
  // Without TLS only on the same machine.
  const isSafe =
    protocol === "https:" || (protocol === "http:" && /^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(hostname));
  return isSafe && [username, password, search, hash].every((part) => part === "");
}

/** Which claims make which role; names and values may hold spaces. */
export const roleRules = v.pipe(
  v.string(),
  v.transform((value) => value.split(",").map((rule) => rule.trim())),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    try {
      dataset.value.map(parseRoleRule);
    } catch (error) {
      addIssue({ message: `is not valid. ${publicMessage(error)}` });
    }
  }),
);

/** Scopes of OpenID Connect. */
export const scopes = v.pipe(
  v.string(),
  v.regex(/^[\x21\x23-\x5B\x5D-\x7E]+(?: [\x21\x23-\x5B\x5D-\x7E]+)*$/, "must be words with a space between them"),
  v.check((value) => value.split(" ").includes("openid"), "must contain openid"),
);
