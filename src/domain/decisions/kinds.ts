/** The kinds of questions, each with what it shows and does. */

import type { QuestionKind } from "../../shared/product/statuses.ts";
import { end } from "./end.ts";
import type { Kind } from "./kind.ts";
import { vouch } from "./vouch.ts";

/** A kind without an entry is not asked yet. */
export const KINDS: Readonly<Partial<Record<QuestionKind, Kind>>> = { vouch, end };
