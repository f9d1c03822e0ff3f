/** Open SSH logins, in requests and answers. */

import * as v from "valibot";
import { described, id, idNumber, timestamp } from "./fields.ts";

const SESSION = "1618033980012345";

export const SessionRecord = v.pipe(
  v.object({
    id: described(SESSION, "Digits that name this connection, and never another one"),
    since: timestamp,
    from: described("192.0.2.7", "The client's address; empty where it is not known"),
    key: v.pipe(
      v.nullable(
        v.object({
          id,
          name: described("laptop"),
          fingerprint: described("SHA256:1B3UCMmezYP6HYhhuY+m0z7uZ8sRqIYhPHcUh9W9eKA"),
        }),
      ),
      v.description("The user's key that opened it, where sshd's own log proves it"),
    ),
  }),
  v.title("SshSession"),
);

export const SessionList = v.object({ items: v.array(SessionRecord) });

/** `:id` is the user's. */
export const UserSessionParams = v.object({
  id: idNumber(),
  sessionId: v.pipe(
    v.string(),
    v.regex(/^\d+$/, "must be digits, as the list of sessions shows them"),
    v.metadata({ examples: [SESSION] }),
  ),
});
