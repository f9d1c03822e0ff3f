/** What the pages of an external user say. */

import { userTexts as en } from "./en/user.ts";
import { inLanguage } from "./language.ts";

export const userTexts = inLanguage({ en });
