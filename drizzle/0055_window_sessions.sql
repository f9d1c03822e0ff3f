ALTER TABLE "users" ADD COLUMN "window_sessions" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "window_recorded_at" timestamp (3) with time zone;--> statement-breakpoint
CREATE INDEX "users_window_sessions" ON "users" USING btree ("id") WHERE "users"."window_sessions" > 0;