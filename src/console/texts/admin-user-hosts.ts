/** What is said of a user's hosts to administrators. */

import { userHostTexts as en } from "./en/admin-user-hosts.ts";
import { inLanguage } from "./language.ts";

export const userHostTexts = inLanguage({ en });
