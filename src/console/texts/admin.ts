/** What the pages of an administrator say. */

import { adminTexts as en } from "./en/admin.ts";
import { inLanguage } from "./language.ts";

export const adminTexts = inLanguage({ en });
