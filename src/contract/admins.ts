/** Administrators, in requests and answers. */

import * as v from "valibot";
import { PASSWORD_MAX, PASSWORD_MIN } from "../shared/password-length.ts";
import { ADMIN_NAME } from "../shared/person.ts";
import { ADMIN_ROLES } from "../shared/statuses.ts";
import { confirmation } from "./confirmation.ts";
import { described, id, text, timestamp } from "./fields.ts";

const role = v.picklist(ADMIN_ROLES);
const email = text("root@example.org", "One address", { format: "email", maxLength: 254 });

export const AdminRecord = v.pipe(
  v.object({
    id,
    username: described("root-admin"),
    email: described("root@example.org"),
    role,
    status: v.pipe(
      v.picklist(["active", "invited"]),
      v.description("`invited` until they have set a password with the link that was mailed"),
    ),
    sso: v.pipe(
      v.boolean(),
      v.description("Whether they came in by single sign-on, which gives them their role at each login"),
      v.examples([false]),
    ),
    passkeys: v.pipe(v.number(), v.integer(), v.minValue(0), v.description("How many they have"), v.examples([2])),
    totp: v.pipe(v.boolean(), v.examples([true]), v.description("Whether an authenticator app is set up")),
    created_at: timestamp,
    last_login_at: v.nullable(timestamp),
  }),
  v.title("Admin"),
);

export const NewAdmin = v.pipe(
  v.object({
    username: text("root-admin", "1 to 64 characters of a-z, 0-9, dot, _ and -", {
      pattern: ADMIN_NAME.source,
    }),
    email,
    role: v.optional(v.pipe(role, v.description("An owner, where none is given"))),
    ...confirmation,
  }),
  v.title("NewAdmin"),
);

export const AdminChanges = v.pipe(
  v.object({ email: v.optional(email), role: v.optional(role), ...confirmation }),
  v.title("AdminChanges"),
);

export const PasswordChange = v.pipe(
  v.object({
    password: v.pipe(
      v.string(),
      v.maxLength(1024, "is too long"),
      v.metadata({ description: "The present one", format: "password", examples: ["seven lanterns over cold water"] }),
    ),
    new_password: described("eleven candles under warm sand", "Not a common one, and without the username in it", {
      format: "password",
      minLength: PASSWORD_MIN,
      maxLength: PASSWORD_MAX,
    }),
  }),
  v.title("PasswordChange"),
);
