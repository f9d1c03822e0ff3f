/** A user as the service shows one. */

import type { AnswerOf } from "../../../api.ts";

export type UserRecord = AnswerOf<"GET /users/:id">;
