/** What the page about one's own login says. */

import { accountTexts as en } from "./en/admin-account.ts";
import { inLanguage } from "./language.ts";

export const accountTexts = inLanguage({ en });
