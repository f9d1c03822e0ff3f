/** The parts of the OpenAPI document that the routes do not supply themselves. */

import type { Who } from "../../../contract/route.ts";
import { REASONS } from "../../../shared/product/reasons.ts";

/** The tags, which are the first parts of the paths. */
export const TAGS = {
  auth: "Logging in and out",
  users: "External users, for administrators",
  me: "External users: their own account, keys and audit trail",
  approvals: "Applications for access, and requests for more time",
  audit: "The audit log, for administrators",
  settings: "Durations that override the configuration, for administrators",
  admin: "The dashboard, for administrators",
  admins: "Administrators, for owners",
  hosts: "Hosts with an agent, and the service's own",
  "host-groups": "Groups of hosts, by which users get accounts",
  tokens: "Tokens for machines, which act for an administrator",
  agent: "The agents on further hosts; docs/fleet-protocol.md has the whole protocol",
  service: "The service itself",
} as const;

/** The failures: the meaning of each status, and the possible content of its sentence. */
export const FAILURES = {
  400: { name: "Invalid", meaning: "Invalid parameter or body", example: "username is missing" },
  401: {
    name: "Unauthorized",
    meaning: "Not logged in, or the credentials are wrong",
    example: "Log in first",
  },
  403: {
    name: "Forbidden",
    meaning: "No permission, or sent from another origin. The message says whose session, or which role, is needed",
    example: "This needs the role owner or operator; yours is reviewer",
  },
  404: { name: "NotFound", meaning: "Not found", example: "There is no user 7" },
  408: {
    name: "TooSlow",
    meaning: "The request did not come whole in time; the connection is closed",
    example: "The request did not come whole within 30 seconds",
  },
  409: {
    name: "Conflict",
    meaning: "Conflict with what is stored or with the state of the host",
    example: "The user alice is expired",
  },
  413: { name: "TooLarge", meaning: "The body is too large", example: "The body is larger than 65536 bytes" },
  429: {
    name: "TooMany",
    meaning: "Too many requests or attempts",
    example: "Too many login attempts from this address; try again in 42 seconds",
  },
  500: {
    name: "Internal",
    meaning: "Internal error. If part of the work was done, the message says what holds",
    example: "An internal error occurred",
  },
  503: {
    name: "Unavailable",
    meaning: "Not ready for requests",
    example: "The database does not answer; try again in a moment",
  },
} as const satisfies Readonly<
  Record<number, { readonly name: string; readonly meaning: string; readonly example: string }>
>;

/** The contact in the document where the configuration names none. */
export const CONTACT = "The administrators of this service";

/** The callers that a route admits. */
export const WHO: Readonly<Record<Who["permission"], string>> = {
  public: "Permission: anyone.",
  session: "Permission: any session.",
  admin: "Permission: an administrator's session.",
  user: "Permission: an external user's session.",
  agent: "Permission: the agent of a host, by its signature.",
};

/** The rules common to all routes. */
export const INFO = `A success is \`{"data": ...}\`, a failure \`{"error": "<a sentence>"}\` with the status that says what kind it is,
and the header \`Uam-Error\` that names the reason for programs.
Unknown paths answer 404; another method on a known path answers 405 with \`Allow\`. HEAD works wherever GET does.

Trying again: a 429 says when, in \`Retry-After\`, and so does a failure because the database went away (\`service.not_ready\`). A 500 or 503 may pass, unless the route says that it is final. Any other failure is final: the same
request fails again until something else changes.

A field or query parameter that looks like a known one (\`ttl\` for \`ttl_days\`) is refused with 400; any other unknown one is ignored. An empty
query parameter counts as absent, except \`preview\`, which is refused. \`x-permission\` says whose session a route needs: \`admin\`, \`user\`, or \`session\` for either; \`x-roles\` which of
the administrators' roles may call it; \`x-reasons\` which names \`Uam-Error\` can have there.

A machine sends a token instead of a session cookie, never beside it: \`Authorization: Bearer uam_…\`. A route that takes one lists \`token\` among its security schemes; no rule
about origins applies. Wrong tokens are limited for each client address (429).`;

/** The header of every response. */
export const REQUEST_ID = { "X-Request-Id": { $ref: "#/components/headers/X-Request-Id" } };

/** The header of every failure. */
export const UAM_ERROR = { "Uam-Error": { $ref: "#/components/headers/Uam-Error" } };

/** The headers that responses refer to. */
export const HEADERS = {
  "X-Request-Id": { description: "Names the request in the service's log", schema: { type: "string", format: "uuid" } },
  "Uam-Error": {
    description: "Why, as a name for programs. New ones may be added; one that is here keeps its meaning",
    schema: { type: "string", enum: Object.keys(REASONS) },
  },
  "Retry-After": {
    description: "Seconds to wait before trying again",
    schema: { type: "integer", minimum: 1 },
  },
};

/** The security scheme of machines. */
export const TOKEN =
  "A token from `POST /tokens`: `uam_`, 43 digits in base 62 that are 256 random bits, and 6 that are the CRC-32 of those 43";

/** The security scheme of agents. */
export const AGENT =
  "`UAM-Agent host=…, counter=…, nonce=…, signature=…`: Ed25519 over method, path and query, hash of the body, host, counter and nonce. The answer is signed, too";
