/** /users/import: many new users from one file, and the mail that tells them. */

import * as v from "valibot";
import { MAX_IMPORT_BYTES, MAX_IMPORT_FAULTS, MAX_IMPORT_LINES } from "../../shared/product/limits.ts";
import { REASONS, type Reason } from "../../shared/product/reasons.ts";
import { count, described, expiry, IdParams, id, person, statusOf } from "../fields.ts";
import { PreviewQuery, previewed } from "../preview.ts";
import { NEW_ACCOUNT, operators, type Routes } from "../route.ts";

const line = v.pipe(count(2), v.description("The line of the file; the header is line 1"));

const Faults = v.pipe(
  v.object({
    existing: v.pipe(count(1), v.description("Lines whose users are there already")),
    faulty: v.pipe(count(1), v.description("Lines with other faults")),
    total: v.pipe(count(2), v.description("All faults: a line can have several")),
    items: v.pipe(
      v.array(
        v.object({
          line,
          column: described("email", "Empty where it is about the whole line"),
          error: described("The e-mail must be one address such as name@example.org, of at most 254 characters"),
          reason: v.pipe(
            v.picklist(Object.keys(REASONS) as Reason[]),
            v.description("`user.taken` where the user is there already"),
          ),
        }),
      ),
      v.description(`The first of them, at most ${MAX_IMPORT_FAULTS}`),
    ),
  }),
  v.title("ImportFaults"),
);

const told = {
  users: v.pipe(count(3), v.description("Lines that are not blank, besides the header")),
  ignored: v.pipe(v.array(described("created_at")), v.description("Columns that are not read")),
  faults: Faults,
};

const ImportPreview = v.pipe(
  v.object({
    preview: v.literal(true),
    ...told,
    good: v.pipe(count(1), v.description("Users that can be created")),
    items: v.pipe(
      v.array(v.object({ line, username: person.username, email: person.email, expire_at: expiry })),
      v.description("The first of them, at most 100"),
    ),
  }),
  v.title("ImportPreview"),
);

const Imported = v.pipe(
  v.object({
    ...told,
    created: count(1),
    items: v.pipe(
      v.array(v.object({ id, username: person.username, expire_at: expiry })),
      v.description("The users that were created, in the order of the file"),
    ),
  }),
  v.title("Imported"),
);

export const imports = {
  "POST /users/import": {
    operationId: "importUsers",
    summary: "Create the users of a file",
    description: `CSV in UTF-8 with a header that names fields of a user: \`username\` and \`email\`, and if you like \`full_name\`, \`supervisor\`, \`purpose\`, \`note\`, \`source_networks\`, \`starts_at\`, \`hours\`, \`hours_end\` and \`on_request\` as in an export, and \`expire_at\` or \`ttl_days\`. At most ${MAX_IMPORT_LINES} users. Creates nobody if any line has a fault, unless \`only_good\` is \`true\`. Each user is created by an operation of its own; if one fails in the middle, those before it stay, and the message says so.`,
    who: operators,
    records: "user.create",
    query: v.object({
      ...PreviewQuery.entries,
      only_good: v.optional(
        v.pipe(
          v.picklist(["true", "false"]),
          v.description("`true`: create the users of the good lines, although others have faults"),
        ),
      ),
      mail: v.optional(
        v.pipe(
          v.picklist(["true", "false"]),
          v.description("`false`: nobody is told yet; their `welcome` stays `pending` until `POST /users/:id/welcome`"),
        ),
      ),
    }),
    body: v.object({ bytes: v.pipe(v.instance(Uint8Array), v.metadata({ type: "string", examples: [] })) }),
    bodyAs: "csv",
    bodyLimit: MAX_IMPORT_BYTES,
    answer: previewed(ImportPreview, Imported),
    refusals: {
      400: "The file has a fault, which the message names, and nobody was created; `preview` lists all of them. Final",
      409: "A user of the file was created by somebody else meanwhile",
      429: "Another file is being imported",
      500: "A user could not be created. The message says why, and how many were: they stay. Import the file again with `only_good`",
    },
    reasons: [...NEW_ACCOUNT, "user.taken", "network.invalid", "service.busy"],
  },
  "POST /users/:id/welcome": {
    operationId: "welcomeUser",
    summary: "Send the mail that tells a user of the account",
    description: "Once: for users who were imported with `mail=false`, and not told since.",
    who: operators,
    params: IdParams,
    answer: statusOf("welcomed"),
    refusals: { 404: true, 409: "The user was told already, or is disabled or expired. Final until that changes" },
    reasons: ["user.missing", "user.welcomed", "user.not_active"],
  },
} as const satisfies Routes;
