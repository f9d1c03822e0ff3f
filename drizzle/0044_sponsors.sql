CREATE TABLE "questions" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "questions_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"kind" text NOT NULL,
	"email" text NOT NULL,
	"about" bigint[] NOT NULL,
	"token_hash" "bytea" NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"answered_at" timestamp (3) with time zone,
	"answers" text DEFAULT '[]' NOT NULL,
	CONSTRAINT "questions_tokenHash_unique" UNIQUE("token_hash"),
	CONSTRAINT "questions_kind" CHECK ("questions"."kind" in ('vouch', 'end', 'review'))
);
--> statement-breakpoint
ALTER TABLE "approvals" ADD COLUMN "sponsor_email" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "approvals" ADD COLUMN "sponsor_answer" text DEFAULT 'none' NOT NULL;--> statement-breakpoint
ALTER TABLE "approvals" ADD COLUMN "sponsor_reason" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "approvals" ADD COLUMN "sponsor_answered_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "sponsor_email" text DEFAULT '' NOT NULL;--> statement-breakpoint
CREATE INDEX "questions_email" ON "questions" USING btree ("email","id");--> statement-breakpoint
CREATE INDEX "questions_expires_at" ON "questions" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "outbox_sponsors" ON "outbox" USING btree ("recipient","id") WHERE "outbox"."dedupe_key" like 'sponsor %';--> statement-breakpoint
CREATE INDEX "users_sponsor_email" ON "users" USING btree ("sponsor_email","id") WHERE "users"."sponsor_email" <> '';--> statement-breakpoint
ALTER TABLE "approvals" ADD CONSTRAINT "approvals_sponsor_answer" CHECK ("approvals"."sponsor_answer" in ('none', 'asked', 'vouched', 'declined'));