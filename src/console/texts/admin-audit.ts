/** What the audit log's page says. */

import { auditTexts as en } from "./en/admin-audit.ts";
import { inLanguage } from "./language.ts";

export const auditTexts = inLanguage({ en });
