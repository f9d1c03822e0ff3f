CREATE TABLE "audit_floor" (
	"one" integer PRIMARY KEY NOT NULL,
	"milliseconds" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "audit_key" (
	"one" integer PRIMARY KEY NOT NULL,
	"fingerprint" "bytea" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "imported_locks" (
	"id" text PRIMARY KEY NOT NULL,
	"at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "policy_state" (
	"key" text PRIMARY KEY NOT NULL,
	"configured" bigint NOT NULL,
	"held_value" bigint,
	"held_until" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "service_state" (
	"one" integer PRIMARY KEY NOT NULL,
	"heartbeat_at" timestamp (3) with time zone NOT NULL,
	"hold_until" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "uid_counter" (
	"one" integer PRIMARY KEY NOT NULL,
	"last" integer NOT NULL
);
--> statement-breakpoint
DROP INDEX "audit_by_subject";--> statement-breakpoint
CREATE INDEX "audit_by_subject" ON "audit" USING btree ("subject_id","id","n_subject","action","actor","resource_id") WHERE "audit"."subject_id" is not null;