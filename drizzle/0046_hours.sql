ALTER TABLE "users" ADD COLUMN "starts_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "hours" text;--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "hours_due_at" timestamp (3) with time zone;--> statement-breakpoint
CREATE INDEX "users_hours_due_at" ON "users" USING btree ("hours_due_at") WHERE "users"."hours_due_at" is not null;