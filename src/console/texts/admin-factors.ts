/** What the page about tokens says. */

import { factorsTexts as en } from "./en/admin-factors.ts";
import { inLanguage } from "./language.ts";

export const factorsTexts = inLanguage({ en });
