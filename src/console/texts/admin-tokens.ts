/** What the page about tokens says. */

import { tokensTexts as en } from "./en/admin-tokens.ts";
import { inLanguage } from "./language.ts";

export const tokensTexts = inLanguage({ en });
