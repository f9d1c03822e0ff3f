ALTER TABLE "questions" DROP CONSTRAINT "questions_kind";--> statement-breakpoint
ALTER TABLE "approvals" DROP CONSTRAINT "approvals_kind";--> statement-breakpoint
ALTER TABLE "approvals" ADD COLUMN "hours" integer;--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "request_rule" text;--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "request_hours" integer;--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "allowed_from" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "allowed_until" timestamp (3) with time zone;--> statement-breakpoint
CREATE INDEX "approvals_access_request" ON "approvals" USING btree ("user_id","id") WHERE "approvals"."kind" = 'access_request';--> statement-breakpoint
CREATE UNIQUE INDEX "approvals_pending_access_request" ON "approvals" USING btree ("user_id") WHERE "approvals"."kind" = 'access_request' and "approvals"."status" = 'pending';--> statement-breakpoint
ALTER TABLE "questions" ADD CONSTRAINT "questions_kind" CHECK ("questions"."kind" in ('vouch', 'end', 'review', 'access'));--> statement-breakpoint
ALTER TABLE "approvals" ADD CONSTRAINT "approvals_kind" CHECK (case "approvals"."kind" when 'access' then "approvals"."user_id" is null and "approvals"."days" is null and "approvals"."hours" is null
        when 'extension' then "approvals"."user_id" is not null and "approvals"."days" is not null and "approvals"."hours" is null
        when 'access_request' then "approvals"."user_id" is not null and "approvals"."days" is null and "approvals"."hours" is not null
        else false end);--> statement-breakpoint
ALTER TABLE "users" ADD CONSTRAINT "users_request_rule" CHECK ("users"."request_rule" in ('self', 'sponsor', 'review'));