/** What the page about one host says. */

import { oneHostTexts as en } from "./en/host.ts";
import { inLanguage } from "./language.ts";

export const oneHostTexts = inLanguage({ en });
