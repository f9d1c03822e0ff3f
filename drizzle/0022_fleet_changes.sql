CREATE TABLE "fleet_changes" (
	"record_id" bigint PRIMARY KEY NOT NULL,
	"user_id" bigint NOT NULL,
	"account" text NOT NULL,
	"hosts" integer[] NOT NULL,
	"made_at" timestamp (3) with time zone NOT NULL,
	"effective_by" timestamp (3) with time zone
);
