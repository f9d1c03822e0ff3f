/** The table of what people without an account are asked by mail: sponsors. */

import { sql } from "drizzle-orm";
import { bigint, check, index, pgTable, text } from "drizzle-orm/pg-core";
import { QUESTION_KINDS } from "../shared/product/statuses.ts";
import { bytea, id, time } from "./columns.ts";

/**
 * Questions, one row for each mail with a link. Whether each of its things was answered, or is asked no more, is stored with the thing itself: an
 * application, a review's item, a user. There is no foreign key, as a link outlives what it is about.
 */
export const questions = pgTable(
  "questions",
  {
    id: id(),
    kind: text({ enum: QUESTION_KINDS }).notNull(),
    /** Who is asked, in lower case: nobody else's answer counts. */
    email: text().notNull(),
    /** Ids of what it is about: applications (`vouch`), users (`end`), one review (`review`). */
    about: bigint({ mode: "number" }).array().notNull(),
    /** SHA-256 of the token in the link, which is stored nowhere. */
    tokenHash: bytea().notNull().unique(),
    createdAt: time().notNull(),
    /** From then on the link is dead. */
    expiresAt: time().notNull(),
    /** When they last answered something of it; null before. */
    answeredAt: time(),
    /** JSON of what was answered by this link, for kinds whose answers are stored nowhere else. */
    answers: text().notNull().default("[]"),
  },
  (t) => [
    check("questions_kind", sql`${t.kind} in ('vouch', 'end', 'review')`),
    index("questions_email").on(t.email, t.id),
    index("questions_expires_at").on(t.expiresAt),
  ],
);

export type QuestionRow = typeof questions.$inferSelect;
