ALTER TABLE "approvals" ADD COLUMN "kind" text DEFAULT 'access' NOT NULL;--> statement-breakpoint
ALTER TABLE "approvals" ADD COLUMN "user_id" bigint;--> statement-breakpoint
ALTER TABLE "approvals" ADD COLUMN "days" integer;--> statement-breakpoint
CREATE INDEX "approvals_user_id" ON "approvals" USING btree ("user_id","id") WHERE "approvals"."kind" = 'extension';--> statement-breakpoint
CREATE UNIQUE INDEX "approvals_pending_extension" ON "approvals" USING btree ("user_id") WHERE "approvals"."kind" = 'extension' and "approvals"."status" = 'pending';--> statement-breakpoint
ALTER TABLE "approvals" ADD CONSTRAINT "approvals_kind" CHECK (case "approvals"."kind" when 'access' then "approvals"."user_id" is null and "approvals"."days" is null
        when 'extension' then "approvals"."user_id" is not null and "approvals"."days" is not null else false end);