DROP INDEX "users_expire_at";--> statement-breakpoint
CREATE INDEX "users_status_expire_at" ON "users" USING btree ("status","expire_at");--> statement-breakpoint
CREATE INDEX "users_expire_at" ON "users" USING btree ("expire_at","id");