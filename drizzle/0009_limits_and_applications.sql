CREATE TABLE "application_notice" (
	"one" integer PRIMARY KEY NOT NULL,
	"application_id" bigint DEFAULT 0 NOT NULL,
	"mailed_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "login_limits" (
	"kind" text NOT NULL,
	"username" text NOT NULL,
	"failures" integer DEFAULT 0 NOT NULL,
	"locked_until" timestamp (3) with time zone,
	"cooldown_until" timestamp (3) with time zone,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "login_limits_kind_username_pk" PRIMARY KEY("kind","username")
);
--> statement-breakpoint
ALTER TABLE "login_locks" DISABLE ROW LEVEL SECURITY;--> statement-breakpoint
DROP TABLE "login_locks" CASCADE;--> statement-breakpoint
DROP INDEX "approvals_pending_username";--> statement-breakpoint
CREATE INDEX "login_limits_updated_at" ON "login_limits" USING btree ("updated_at");--> statement-breakpoint
ALTER TABLE "otp_codes" DROP COLUMN "attempts";--> statement-breakpoint
ALTER TABLE "otp_codes" DROP COLUMN "cooldown_until";--> statement-breakpoint
ALTER TABLE "otp_codes" DROP COLUMN "locked_until";