/** What the settings' page says. */

import { settingsTexts as en } from "./en/admin-settings.ts";
import { inLanguage } from "./language.ts";

export const settingsTexts = inLanguage({ en });
