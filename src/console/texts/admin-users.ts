/** What the list of users says. */

import { userListTexts as en } from "./en/admin-users.ts";
import { inLanguage } from "./language.ts";

export const userListTexts = inLanguage({ en });
