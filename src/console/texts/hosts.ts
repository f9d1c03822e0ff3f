/** What the pages about hosts say. */

import { hostTexts as en } from "./en/hosts.ts";
import { inLanguage } from "./language.ts";

export const hostTexts = inLanguage({ en });
