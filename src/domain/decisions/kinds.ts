/** The kinds of questions, each with what it shows and does. */

import type { QuestionKind } from "../../shared/product/statuses.ts";
import { access } from "./access.ts";
import { end } from "./end.ts";
import type { Kind } from "./kind.ts";
import { review } from "./review.ts";
import { vouch } from "./vouch.ts";

export const KINDS: Readonly<Record<QuestionKind, Kind>> = { vouch, end, review, access };
