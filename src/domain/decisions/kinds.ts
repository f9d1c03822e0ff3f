/** The kinds of questions, each with what it shows and does. */

import type { QuestionKind } from "../../shared/product/statuses.ts";
import type { Kind } from "./kind.ts";

/** A kind without an entry is not asked yet. */
export const KINDS: Readonly<Partial<Record<QuestionKind, Kind>>> = {};
