/** uam profile: what accounts of external users may do on hosts. */

import { message } from "@optique/core/message";
import { command } from "@optique/core/primitives";
import { profileTry } from "./profile-try.ts";

export const profileCommand = command("profile", profileTry, {
  brief: message`Try what a profile allows.`,
});
