/** /me: external users see and manage their own account. */

import * as v from "valibot";
import { APPROVAL_STATUSES, USER_STATUSES } from "../shared/product/statuses.ts";
import { OwnOnRequest } from "./access/on-request.ts";
import { described, expiry, id, networks, person, text, timestamp } from "./fields.ts";
import { hosts } from "./hosts-confirmation.ts";
import { ownProfile } from "./profiles/own.ts";
import { COOKIE_SET, externalUsers, type Routes } from "./route.ts";
import { accessNow, accessTimes } from "./users/hours.ts";
import { MANAGER, USER_NETWORKS } from "./users/lists.ts";

const VERSION = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

const OwnTerms = v.pipe(
  v.object({
    version: described(VERSION, "The SHA-256 of the text"),
    pending: v.pipe(v.boolean(), v.description("Whether they still have to be accepted"), v.examples([true])),
    accepted_at: v.pipe(v.nullable(timestamp), v.description("When this version was accepted")),
  }),
  v.title("OwnTerms"),
  v.description("Where the service has terms of use; their text is at `GET /me/terms`"),
);

const TermsText = v.pipe(
  v.object({ ...OwnTerms.pipe[0].entries, text: described("Terms of use\n\n…") }),
  v.title("Terms"),
);

const OwnHours = v.pipe(
  v.object({
    texts: v.pipe(
      v.array(described("mon-fri 08:00-18:00 Europe/Berlin")),
      v.description("The hours of the week: access is open in all of these together; none: at any time"),
    ),
    zone: v.pipe(v.nullable(described("Europe/Berlin")), v.description("The zone of the first of them")),
    starts_at: accessTimes.starts_at,
    access: accessTimes.access,
    access_changes_at: accessTimes.access_changes_at,
    next: v.pipe(
      v.nullable(v.object({ from: timestamp, to: timestamp })),
      v.description("The next window that has not begun; null: none within 14 days"),
    ),
  }),
  v.title("OwnHours"),
  v.description(
    "Where access has a start or hours: whether it is open, and when that changes. Pages and codes work outside of them",
  ),
);

export const OwnRecord = v.pipe(
  v.object({
    id,
    username: person.username,
    host_account: described("ext_alice", "The account on the host"),
    email: person.email,
    full_name: person.full_name,
    supervisor: person.supervisor,
    purpose: person.purpose,
    source_networks: networks(USER_NETWORKS),
    manager: v.pipe(v.boolean(), v.description(`${MANAGER}: \`GET /me/company\``), v.examples([false])),
    profile: v.pipe(
      v.nullable(described("may copy files to and from /data/acme, nothing else")),
      v.description("What the account may do, in words; null: what the host lets any account do"),
    ),
    status: v.picklist(USER_STATUSES),
    expire_at: expiry,
    ...accessNow,
    on_request: OwnOnRequest,
    created_at: timestamp,
    ends: v.pipe(
      v.object({ at: expiry, reason: v.picklist(["expiry", "expired", "disabled"]), removed_at: timestamp }),
      v.description(
        "`at` is when logins end or ended: at the expiry that is to come (`expiry`) or has come (`expired`), or when the account was disabled. From `removed_at` on, the account is deleted with everything in its home",
      ),
    ),
    ssh: v.pipe(
      v.nullable(
        v.object({
          host: described("uam.example.org"),
          port: v.pipe(v.number(), v.integer(), v.examples([22])),
          host_keys: v.pipe(
            v.array(described("SHA256:ZtHGr0JRRTR5c1mBn4VgxoGuxWVfuZ7mjuDrT5JDNDs (ED25519)")),
            v.description("The host keys' fingerprints, as ssh shows them; empty where they are not known"),
          ),
          command: described("ssh ext_alice@uam.example.org", "Connects, as the profile allows it"),
          profile: ownProfile,
          config: described(
            "Host uam.example.org\n  HostName uam.example.org\n  User ext_alice\n  Port 22",
            "A block for `~/.ssh/config`; with it `ssh HOST` is enough",
          ),
          known_hosts: v.pipe(
            v.array(
              described(
                "uam.example.org ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILaNJJBGzPmkiX3Z160Q00v6FSEYUOHcfhr2QsREXeNz",
              ),
            ),
            v.description("Lines for `~/.ssh/known_hosts`, one for each host key; with them ssh need not ask"),
          ),
        }),
      ),
      v.description("How to connect; null where the service manages no host of its own and is told of none"),
    ),
    extension: v.pipe(
      v.nullable(
        v.object({
          id,
          status: v.picklist(APPROVAL_STATUSES),
          days: v.pipe(v.number(), v.integer(), v.examples([30])),
          created_at: timestamp,
          reviewed_at: v.nullable(timestamp),
          reason: described("Until the project ends", "Given at the review; empty while it is pending"),
        }),
      ),
      v.description("The newest request for more time, if it is pending or was reviewed within 30 days"),
    ),
    hours: v.optional(OwnHours),
    terms: v.optional(OwnTerms),
    contact: described("help@example.org", "Whom to ask: an address or a sentence; empty where nobody is named"),
  }),
  v.title("OwnAccount"),
);

/** The answer after a user locked their own account. */
export const Locked = v.object({ status: v.picklist(["disabled", "expired"]), hosts });

export const me = {
  "GET /me": {
    operationId: "getOwnAccount",
    summary: "Read your own account, and how to connect to it",
    description:
      "Where to connect with ssh, as a command and as texts for ~/.ssh/config and ~/.ssh/known_hosts; the end of access, the contact, and the state of a request for more time.",
    who: externalUsers,
    answer: OwnRecord,
  },
  "GET /me/hours.ics": {
    operationId: "getOwnCalendar",
    summary: "Read when your access is open, as a calendar file",
    description:
      "RFC 5545, with the windows of the next 60 days as events in UTC, by start, end and hours; of access on request what is allowed. Hours of hosts are left out.",
    who: externalUsers,
    success: {
      description: "The calendar",
      headers: { "Content-Disposition": { schema: { type: "string" } } },
      content: { "text/calendar": { schema: { type: "string" } } },
    },
    refusals: { 404: true },
    reasons: ["user.missing"],
  },
  "GET /me/terms": {
    operationId: "getTerms",
    summary: "Read the terms of use",
    who: externalUsers,
    answer: TermsText,
    refusals: { 404: "The service has none" },
    reasons: ["terms.none"],
  },
  "POST /me/terms": {
    operationId: "acceptTerms",
    summary: "Accept the terms of use",
    description:
      "Before the first key is stored, and again when the terms have changed. Accepting them once more changes nothing.",
    who: externalUsers,
    records: "user.terms",
    body: v.object({ version: text(VERSION, "As `GET /me/terms` has it", { maxLength: 64 }) }),
    answer: OwnTerms,
    refusals: { 404: true, 409: "The user is not active, or these are not the terms in force. Final: read them again" },
    reasons: ["user.missing", "user.not_active", "terms.none", "terms.changed"],
  },
  "POST /me/lock": {
    operationId: "lockOwnAccount",
    summary: "Shut your own account: this was not me",
    description:
      "As when an administrator disables it: no key opens it, and its processes end. All your sessions with this service end as well, this one included. The administrators are mailed, and only they can enable it again. Expired accounts stay expired, and will be disabled when they are extended.",
    who: externalUsers,
    onlyTakesAway: true,
    answer: Locked,
    success: COOKIE_SET,
    refusals: {
      404: true,
      409: "Final: disabled already, or being deleted",
      500: "The host could not do all of it. The message says what holds; the rest is retried until it is done. Your sessions have ended all the same",
    },
    reasons: ["user.missing", "user.not_active", "user.deleting", "access.owed"],
  },
} as const satisfies Routes;
