/** What the dashboard says. */

import { dashboardTexts as en } from "./en/admin-dashboard.ts";
import { inLanguage } from "./language.ts";

export const dashboardTexts = inLanguage({ en });
