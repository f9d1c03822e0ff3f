import * as v from "valibot";
import { SERIES_DAYS } from "../shared/product/limits.ts";
import { CLOSING_KINDS } from "../shared/product/statuses.ts";
import { count, described, id, PageQuery, timestamp } from "./fields.ts";
import { HostProblemRecord } from "./hosts.ts";
import { admins, type Routes, reviewers } from "./route.ts";
import { UserRecord } from "./users/lists.ts";
import { lag } from "./webhooks.ts";

const ProblemRecord = v.pipe(
  v.object({
    id,
    user_id: id,
    username: described("alice", "Empty if the user is deleted"),
    kind: v.pipe(
      v.picklist(CLOSING_KINDS),
      v.description(
        "The access being taken away: `shut` all access, `remove` the account for good, `revoke` one key, `narrow` logins from some networks, `shorten` the time after an earlier end, `leave` the account on the service's own host alone",
      ),
    ),
    since: timestamp,
    attempts: v.pipe(
      v.number(),
      v.integer(),
      v.minValue(0),
      v.metadata({ description: "0 while the first one is under way, or if it was cut short", examples: [3] }),
    ),
    next_attempt_at: timestamp,
    problem: described(
      "The account ext_alice still has 1 running process",
      "The remaining work, in sentences; empty before the first attempt ended",
    ),
  }),
  v.title("Problem"),
);

const AwayRecord = v.pipe(
  v.object({
    kind: v.picklist(["webhook", "stream"]),
    id: v.pipe(v.nullable(id), v.description("The webhook; null for the stream")),
    name: described("https://hooks.example.org", "Its address, without parts that may be secret"),
    since: v.nullable(timestamp),
    lag: lag,
    problem: described("hooks.example.org refuses connections", "The error of the last attempt"),
  }),
  v.title("Receiver"),
);

const IncidentRecord = v.pipe(
  v.object({
    user_id: id,
    username: described("alice"),
    at: timestamp,
  }),
  v.title("Incident"),
);

const FailingMail = v.pipe(
  v.object({
    waiting: v.pipe(count(3), v.description("Mails that failed at least once, and are tried again")),
    lost: v.pipe(count(0), v.description("Mails of the last 7 days that could not be sent at all")),
    since: v.pipe(timestamp, v.description("When the oldest of them was written")),
    problem: described("connection refused by mail.example.org:25", "The newest error"),
  }),
  v.title("FailingMail"),
);

const OldBackup = v.pipe(
  v.object({
    at: v.pipe(timestamp, v.description("When the newest was made")),
    problem: described("/usr/bin/rclone ended with exit code 7", "Why the newest attempt since then failed; or empty"),
  }),
  v.title("OldBackup"),
);

const LostSponsor = v.pipe(
  v.object({
    email: described("bo@example.org"),
    users: v.pipe(count(12), v.description("For how many users they answer")),
    since: timestamp,
    problem: described("550 5.1.1 no such user", "What the mail server said"),
  }),
  v.title("LostSponsor"),
);

const WaitingReview = v.pipe(
  v.object({
    id,
    due_at: timestamp,
    waiting: v.pipe(count(3), v.description("Users who wait for the answer of owners and operators")),
  }),
  v.title("WaitingReview"),
);

const AttentionRecord = v.pipe(
  v.object({
    requests: v.pipe(count(3), v.description("Applications and requests for more time that wait for a decision")),
    problems: v.pipe(count(2), v.description("How many of everything below but reviews there are")),
    incidents: v.pipe(
      v.object({ total: count(1), items: v.array(IncidentRecord) }),
      v.description(
        "Users who shut their own account (`POST /me/lock`) and are still disabled by that, the newest first; at most 20 by name",
      ),
    ),
    owed: v.pipe(
      count(1),
      v.description("How often access is still to be taken away; `GET /admin/problems` says whose"),
    ),
    hosts: v.pipe(count(0), v.description("How many problems hosts have; `GET /admin/problems` names them")),
    receivers: v.pipe(
      v.array(AwayRecord),
      v.description("Webhooks, and the stream of audit records, whose last attempt failed"),
    ),
    sponsors: v.pipe(
      v.array(LostSponsor),
      v.description("Sponsors whom no mail reaches: the newest one to them was refused for good"),
    ),
    reviews: v.pipe(
      v.array(WaitingReview),
      v.description("Open reviews with users about whom no sponsor is asked, the next due first"),
    ),
    mail: v.pipe(v.nullable(FailingMail), v.description("null while all mail is accepted")),
    mail_unsent: v.pipe(
      v.boolean(),
      v.description(
        "Whether mail is only written to a file, as neither `UAM_SMTP_URL` nor `UAM_RESEND_API_KEY` is set; false in a dry run. Not one of `problems`",
      ),
      v.examples([false]),
    ),
    backup: v.pipe(
      v.nullable(OldBackup),
      v.description("null while the newest backup is not older than `UAM_BACKUP_MAX_AGE`, or none was ever made"),
    ),
  }),
  v.title("Attention"),
);

const ProblemPage = v.object({
  total: count(1),
  items: v.array(ProblemRecord),
  receivers: v.array(AwayRecord),
  hosts: v.optional(
    v.pipe(
      v.object({ total: count(1), items: v.array(HostProblemRecord) }),
      v.description("Problems of hosts; only if there are others than the service's own, or that one has some"),
    ),
  ),
});

const { least, most, usual } = SERIES_DAYS;

const SeriesQuery = v.object({
  days: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^\d{1,4}$/, "must be a whole number"),
      v.metadata({ type: "integer", minimum: least, maximum: most, description: "How many days, back and ahead" }),
      v.transform(Number),
      v.minValue(least, `must be at least ${least}`),
      v.maxValue(most, `must be at most ${most}`),
    ),
    String(usual),
  ),
});

const date = described("2026-11-20", "A day, UTC", { format: "date" });

const SeriesRecord = v.pipe(
  v.object({
    days: count(usual),
    states: v.pipe(
      v.array(v.object({ date, active: count(9), disabled: count(2), expired: count(1) })),
      v.description("Users by state, as last counted on that day"),
    ),
    ends: v.pipe(v.array(v.object({ date, users: count(1) })), v.description("Active users who expire on that day")),
    changes: v.pipe(
      v.array(v.object({ date, changes: count(14), failed: count(1) })),
      v.description("Changes on record, and those that failed; logins, and reading or exporting, are none"),
    ),
  }),
  v.title("StatsSeries"),
);

const StatsRecord = v.pipe(
  v.object({
    total: count(12),
    active: count(9),
    disabled: count(2),
    expired: count(1),
    expiring_soon: v.pipe(
      v.array(UserRecord),
      v.description("Active users who expire within the next 30 days, soonest first"),
    ),
    pending_approvals: count(3),
  }),
  v.title("Stats"),
);

export const dashboard = {
  "GET /admin/stats": {
    operationId: "getStats",
    summary: "Counts of users and applications, and users who expire soon",
    description: "All figures describe one moment.",
    who: reviewers,
    answer: StatsRecord,
  },
  "GET /admin/stats/series": {
    operationId: "getStatsSeries",
    summary: "Users by state, endings and changes by day",
    description:
      "Days are UTC. `states` and `changes` are of the past days until today, oldest first, without days that have no data; `ends` are of today and the days to come.",
    who: reviewers,
    query: SeriesQuery,
    answer: SeriesRecord,
  },
  "GET /admin/attention": {
    operationId: "getAttention",
    summary: "What needs an administrator today",
    description:
      "Users who shut their own account, outstanding work, an old backup, and mail and receivers from their first failure on, with how many requests wait for a decision, and the reviews that wait for an answer. Small enough to be asked for each minute.",
    who: admins,
    answer: AttentionRecord,
  },
  "GET /admin/problems": {
    operationId: "listProblems",
    summary: "Access that is still to be taken away, and receivers that are away",
    description:
      "What `uam doctor` reports of it, oldest first: nothing opens these accounts, and the service retries by itself. Also, in `receivers`: webhooks, and the stream of audit records, that have accepted nothing for an hour. With further hosts, `hosts` has their problems, by the same page. Empty when all is well.",
    who: admins,
    query: PageQuery,
    answer: ProblemPage,
  },
} as const satisfies Routes;
