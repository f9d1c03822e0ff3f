/** What the page about administrators says. */

import { adminsTexts as en } from "./en/admin-admins.ts";
import { inLanguage } from "./language.ts";

export const adminsTexts = inLanguage({ en });
