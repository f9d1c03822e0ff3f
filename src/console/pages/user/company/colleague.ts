import type { AnswerOf } from "../../../api.ts";

/** Somebody of the company, as its managers see them. */
export type Colleague = AnswerOf<"GET /me/company/users">["items"][number];
