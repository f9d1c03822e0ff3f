/** What the page about applications says. */

import { applicationTexts as en } from "./en/admin-applications.ts";
import { inLanguage } from "./language.ts";

export const applicationTexts = inLanguage({ en });
