/** What the pages say that need no session. */

import { publicTexts as en } from "./en/public.ts";
import { inLanguage } from "./language.ts";

export const publicTexts = inLanguage({ en });
