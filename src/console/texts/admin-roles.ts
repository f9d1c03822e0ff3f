/** What administrators' roles are called, and what is said where one does not suffice. */

import { roleTexts as en } from "./en/admin-roles.ts";
import { inLanguage } from "./language.ts";

export const roleTexts = inLanguage({ en });
