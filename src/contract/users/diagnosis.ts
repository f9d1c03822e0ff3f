/** Why a user cannot log in. */

import * as v from "valibot";
import { LOGIN_OBSTACLE_NAMES } from "../../shared/product/login-obstacles.ts";
import { described, timestamp } from "../fields.ts";

export const UserDiagnosis = v.pipe(
  v.object({
    can: v.pipe(v.boolean(), v.examples([false])),
    because: v.array(
      v.object({
        reason: v.picklist(LOGIN_OBSTACLE_NAMES),
        text: described("alice has been disabled since 2026-11-20T08:00:00.000Z, by root-admin"),
        remedy: described("uam user enable alice", "What to do about it"),
      }),
    ),
    refused: v.pipe(
      v.array(
        v.object({
          at: timestamp,
          from: described("192.0.2.7", "The client's address; empty where the log has none"),
          why: described(
            "Connection closed by authenticating user ext_alice 192.0.2.7 port 50022 [preauth]",
            "sshd's own words",
          ),
        }),
      ),
      v.description(
        "The newest logins that the service's own host refused, at most ten; look at `log` where it is empty",
      ),
    ),
    log: v.object({
      read: v.pipe(v.boolean(), v.description("If false, nothing is known about refused logins"), v.examples([true])),
      text: described("sshd's log on the service's own host was read", "How much of it was read, or why none was"),
    }),
  }),
  v.title("Diagnosis"),
);
