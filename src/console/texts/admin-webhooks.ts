/** What the page about webhooks says. */

import { webhooksTexts as en } from "./en/admin-webhooks.ts";
import { inLanguage } from "./language.ts";

export const webhooksTexts = inLanguage({ en });
