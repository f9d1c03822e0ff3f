/** What the page about one user says. */

import { effectTexts as effects, userTexts as en } from "./en/admin-user.ts";
import { inLanguage } from "./language.ts";

export const userTexts = inLanguage({ en });
export const effectTexts = inLanguage({ en: effects });
