/** A profile as a host's agent is told of it, and what the agent says of it. */

import * as v from "valibot";
import { MAX_TEXT } from "../../protocol/fleet.ts";
import { described } from "../fields.ts";

const seconds = v.pipe(v.number(), v.integer(), v.examples([900]));

export const HostProfileRecord = v.pipe(
  v.object({
    name: described("drop-box"),
    kind: v.picklist(["shell", "sftp", "forward", "command"]),
    secondFactor: v.picklist(["none", "verified"]),
    attestation: v.optional(v.literal("required")),
    directory: v.optional(described("/srv/drop")),
    readOnly: v.optional(v.pipe(v.boolean(), v.examples([false]))),
    umask: v.optional(described("027")),
    targets: v.optional(v.array(described("db.example.org:5432"))),
    forwarding: v.optional(v.union([v.boolean(), v.array(described("db.example.org:5432"))])),
    command: v.optional(described("deploy")),
    idleSeconds: v.optional(seconds),
    maxSessions: v.optional(v.pipe(v.number(), v.integer(), v.examples([2]))),
    banner: v.optional(described("/etc/issue.net")),
    groups: v.optional(v.array(described("www-data"))),
    sudo: v.optional(v.array(described("restart-web"))),
  }),
  v.description("What its accounts may do; the host's agent makes its sshd hold to it"),
);

const name = v.pipe(v.string(), v.maxLength(64), v.examples(["drop-box"]));
const problem = v.pipe(
  v.string(),
  v.maxLength(MAX_TEXT, `must have at most ${MAX_TEXT} characters`),
  v.regex(/^[^\0]*$/, "must not contain NUL characters"),
  v.examples(["/srv/drop does not exist"]),
);

/** What an agent says of one. */
export const ProfileStateBody = v.pipe(
  v.union([v.object({ name, state: v.literal("applied") }), v.object({ name, state: v.literal("problem"), problem })]),
  v.description("Whether the host holds a profile, and why not"),
);
