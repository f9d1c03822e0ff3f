/** Lists of users and of their supervisors: what is asked, and what is answered. */

import * as v from "valibot";
import { MAX_SEARCH } from "../../shared/product/limits.ts";
import { ACCESS_STATES, TERMS, USER_STATUSES, WELCOMES } from "../../shared/product/statuses.ts";
import { USER_SORTS } from "../../shared/product/user-sorts.ts";
import {
  count,
  described,
  expiry,
  exportFormat,
  id,
  idNumber,
  networks,
  note,
  pageFields,
  pageIn,
  person,
  shownProfile,
  sponsor,
  text,
  timestamp,
} from "../fields.ts";
import { told } from "../preview.ts";
import { accessTimes } from "./hours.ts";

export const USER_NETWORKS = "From where the account's keys may be used for SSH; empty: from anywhere";

const TERMS_VERSION = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

export const MANAGER = "Whether they may see and end the users of their company";

const userFilters = {
  status: v.optional(v.picklist(USER_STATUSES)),
  access: v.optional(
    v.pipe(v.picklist(ACCESS_STATES), v.description("Only those whose `access` is so now, as in the records")),
  ),
  supervisor: v.optional(text("Bo Lindqvist", "Exactly this supervisor")),
  q: v.optional(
    text("lindqvist", "A part of username, host account, e-mail, full name, supervisor or purpose, in any case", {
      maxLength: MAX_SEARCH,
    }),
  ),
  welcome: v.optional(
    v.pipe(v.picklist(["pending"]), v.description("Only those who were not yet told of their account")),
  ),
  company: v.optional(idNumber("Only those who come from this company")),
  sponsor: v.optional(
    text(
      "bo@example.org",
      "Only those for whom this address answers, themselves or for their company; `none`: for whom nobody does",
      { maxLength: 254 },
    ),
  ),
  terms: v.optional(
    v.pipe(
      v.picklist(TERMS),
      v.description("Only those who have not accepted the terms of use; `overdue`: though they were asked 14 days ago"),
    ),
  ),
  last_used: v.optional(
    v.pipe(
      v.picklist(["never"]),
      v.description("Only those who never logged in, to this service or by SSH, as far as it knows"),
    ),
  ),
  silent_for: v.optional(
    text("30d", "Only those who did not log in for so long, to this service or by SSH, and are no newer than that"),
  ),
  sort: v.optional(
    v.pipe(v.picklist(USER_SORTS), v.description("A minus sign turns the order round; by default, newest first")),
  ),
};

export const UserQuery = v.pipe(v.object({ ...pageFields, ...userFilters }), v.transform(pageIn));

export const UserExportQuery = v.object({ ...userFilters, format: exportFormat });

/** Which users a list or an export has, and in which order. */
export type UserFilters = v.InferOutput<typeof UserExportQuery>;

export const UserRecord = v.pipe(
  v.object({
    id,
    username: person.username,
    host_account: described("ext_alice", "The account on the host"),
    email: person.email,
    full_name: person.full_name,
    supervisor: person.supervisor,
    purpose: person.purpose,
    note,
    source_networks: networks(USER_NETWORKS),
    company_id: v.pipe(v.nullable(id), v.description("The company that they come from; null for none")),
    manager: v.pipe(v.boolean(), v.description(MANAGER), v.examples([false])),
    sponsor_email: sponsor,
    profile: shownProfile,
    status: v.picklist(USER_STATUSES),
    expire_at: expiry,
    ...accessTimes,
    disabled_at: v.nullable(timestamp),
    welcome: v.pipe(
      v.picklist(WELCOMES),
      v.description("`pending` until the mail that tells the user of the account is sent: `POST /users/:id/welcome`"),
    ),
    created_at: timestamp,
    updated_at: timestamp,
  }),
  v.title("User"),
);

/** The user as they would be, and what that means: what reads the answer of the change reads this, too. */
export const ChangedUserPreview = v.pipe(
  v.object({ ...UserRecord.pipe[0].entries, ...told }),
  v.title("ChangedUserPreview"),
);

/** One user, where the service has terms of use with what they accepted. */
export const OneUser = v.pipe(
  v.object({
    ...UserRecord.pipe[0].entries,
    terms: v.optional(
      v.pipe(
        v.object({
          version: described(TERMS_VERSION, "Of those in force"),
          pending: v.pipe(v.boolean(), v.description("Whether they still have to be accepted"), v.examples([true])),
          accepted_version: described(TERMS_VERSION, "What the user last accepted; empty for nothing"),
          accepted_at: v.pipe(v.nullable(timestamp), v.description("When; null for nothing")),
        }),
        v.description("Only where the service has terms of use; a version is the SHA-256 of a text"),
      ),
    ),
  }),
  v.title("OneUser"),
);

export const ListedUser = v.pipe(
  v.object({
    ...UserRecord.pipe[0].entries,
    last_login_at: v.pipe(
      v.nullable(timestamp),
      v.description("The last login to this service; null before the first"),
    ),
    active_keys: count(2),
    last_key_use_at: v.pipe(
      v.nullable(timestamp),
      v.description(
        "The last SSH login with any of their keys, revoked ones included, by sshd's log on the service's own host; null where none is known",
      ),
    ),
  }),
  v.title("ListedUser"),
);

export const SupervisorQuery = v.object({
  q: v.optional(text("lind", "A part of the name, in any case", { maxLength: MAX_SEARCH })),
});

export const SupervisorList = v.object({
  items: v.array(
    v.pipe(
      v.object({
        supervisor: described("Bo Lindqvist"),
        users: v.pipe(count(12), v.description("How many users have exactly this supervisor")),
      }),
      v.title("Supervisor"),
    ),
  ),
});
