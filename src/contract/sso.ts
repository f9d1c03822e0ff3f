/** Single sign-on, in requests and answers. */

import * as v from "valibot";
import { described, id, text, timestamp } from "./fields.ts";

export const SsoBegin = v.object({
  next: v.optional(text("/admin/users", "The console's page that the login leads to; any other is ignored")),
});

export const SsoLogoutToken = v.pipe(
  v.object({ logout_token: text("eyJhbGciOiJSUzI1NiJ9.e30.c2lnbmF0dXJl", "A JWT that the provider signed") }),
  v.title("SsoLogout"),
);

export const RemovedRecord = v.pipe(
  v.object({
    id,
    username: described("alice", "The administrator's name, as it was here"),
    issuer: described("https://login.example.org/realms/staff"),
    subject: described("248289761001", "Whom the provider means"),
    created_at: timestamp,
  }),
  v.title("RemovedAdmin"),
);
