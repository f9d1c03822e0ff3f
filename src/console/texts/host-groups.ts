/** What the pages about groups of hosts say. */

import { groupTexts as en } from "./en/host-groups.ts";
import { inLanguage } from "./language.ts";

export const groupTexts = inLanguage({ en });
