CREATE TABLE "profiles" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "profiles_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"name" text NOT NULL,
	"kind" text NOT NULL,
	"directory" text,
	"read_only" boolean DEFAULT false NOT NULL,
	"umask" text,
	"targets" text[] DEFAULT '{}' NOT NULL,
	"forwarding" boolean DEFAULT true NOT NULL,
	"command" text,
	"idle_seconds" integer,
	"max_sessions" integer,
	"second_factor" text DEFAULT 'none' NOT NULL,
	"groups" text[] DEFAULT '{}' NOT NULL,
	"sudo" text[] DEFAULT '{}' NOT NULL,
	"banner" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "profiles_name_unique" UNIQUE("name"),
	CONSTRAINT "profiles_kind" CHECK ("profiles"."kind" in ('shell', 'sftp', 'forward', 'command')),
	CONSTRAINT "profiles_second_factor" CHECK ("profiles"."second_factor" in ('none', 'verified'))
);
--> statement-breakpoint
ALTER TABLE "closings" DROP CONSTRAINT "closings_kind";--> statement-breakpoint
ALTER TABLE "host_groups" ADD COLUMN "profile" text;--> statement-breakpoint
ALTER TABLE "hosts" ADD COLUMN "profiles" text;--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "profile" text;--> statement-breakpoint
ALTER TABLE "host_groups" ADD CONSTRAINT "host_groups_profile_profiles_name_fk" FOREIGN KEY ("profile") REFERENCES "public"."profiles"("name") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "users" ADD CONSTRAINT "users_profile_profiles_name_fk" FOREIGN KEY ("profile") REFERENCES "public"."profiles"("name") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "users_profile" ON "users" USING btree ("profile","id") WHERE "users"."profile" is not null;--> statement-breakpoint
ALTER TABLE "closings" ADD CONSTRAINT "closings_kind" CHECK ("closings"."kind" in ('shut', 'remove', 'revoke', 'narrow', 'shorten', 'leave', 'profile'));