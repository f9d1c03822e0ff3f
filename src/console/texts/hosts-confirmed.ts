/** On which hosts a change is true. */

import { confirmedTexts as en } from "./en/hosts-confirmed.ts";
import { inLanguage } from "./language.ts";

export const confirmedTexts = inLanguage({ en });
