/** What is said about from where keys may be used. */

import { networkTexts as en } from "./en/networks.ts";
import { inLanguage } from "./language.ts";

export const networkTexts = inLanguage({ en });
