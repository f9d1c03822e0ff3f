/** What the audit log records, in words for administrators. */

import { actionTexts as en } from "./en/admin-actions.ts";
import { inLanguage } from "./language.ts";

export const actionTexts = inLanguage({ en });
