/** What every page says. */

import { common as en } from "./en/common.ts";
import { inLanguage } from "./language.ts";

export const common = inLanguage({ en });
