CREATE TABLE "audit_checkpoint" (
	"id" bigint PRIMARY KEY NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"mac" "bytea" NOT NULL,
	"purged_at" timestamp (3) with time zone NOT NULL,
	"seal" "bytea" NOT NULL
);
--> statement-breakpoint
DROP INDEX "audit_actor";--> statement-breakpoint
DROP INDEX "audit_action";--> statement-breakpoint
DROP INDEX "audit_resource";--> statement-breakpoint
DROP INDEX "audit_subject";--> statement-breakpoint
ALTER TABLE "audit" ADD COLUMN "n_type" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "audit" ADD COLUMN "n_action" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "audit" ADD COLUMN "n_actor" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "audit" ADD COLUMN "n_actor_action" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "audit" ADD COLUMN "n_resource" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "audit" ADD COLUMN "n_subject" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "audit" ADD COLUMN "mac" "bytea" DEFAULT ''::bytea NOT NULL;--> statement-breakpoint
ALTER TABLE "audit_head" ADD COLUMN "created_at" timestamp (3) with time zone DEFAULT '1970-01-01T00:00:00Z' NOT NULL;--> statement-breakpoint
ALTER TABLE "audit_head" ADD COLUMN "mac" "bytea" DEFAULT ''::bytea NOT NULL;--> statement-breakpoint
CREATE INDEX "audit_by_type" ON "audit" USING btree ("resource_type","id","n_type");--> statement-breakpoint
CREATE INDEX "audit_by_action" ON "audit" USING btree ("action","resource_type","id","n_action");--> statement-breakpoint
CREATE INDEX "audit_by_actor" ON "audit" USING btree ("actor","resource_type","id","n_actor");--> statement-breakpoint
CREATE INDEX "audit_by_actor_action" ON "audit" USING btree ("actor","action","resource_type","id","n_actor_action");--> statement-breakpoint
CREATE INDEX "audit_by_resource" ON "audit" USING btree ("resource_type","resource_id","id","n_resource","action","actor");--> statement-breakpoint
CREATE INDEX "audit_by_subject" ON "audit" USING btree ("subject_id","id","n_subject") WHERE "audit"."subject_id" is not null;