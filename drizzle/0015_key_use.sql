CREATE TABLE "login_logs" (
	"host_id" integer PRIMARY KEY NOT NULL,
	"next" text NOT NULL
);
--> statement-breakpoint
ALTER TABLE "ssh_keys" ADD COLUMN "last_used_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "ssh_keys" ADD COLUMN "last_used_from" text DEFAULT '' NOT NULL;