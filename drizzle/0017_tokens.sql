CREATE TABLE "tokens" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "tokens_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"token_hash" "bytea" NOT NULL,
	"prefix" text NOT NULL,
	"name" text NOT NULL,
	"role" text NOT NULL,
	"owner_id" bigint NOT NULL,
	"owner" text NOT NULL,
	"networks" text DEFAULT '' NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"last_used_at" timestamp (3) with time zone,
	"last_used_from" text DEFAULT '' NOT NULL,
	"revoked_at" timestamp (3) with time zone,
	CONSTRAINT "tokens_tokenHash_unique" UNIQUE("token_hash"),
	CONSTRAINT "tokens_role" CHECK ("tokens"."role" in ('owner', 'operator', 'reviewer', 'auditor'))
);
--> statement-breakpoint
ALTER TABLE "closings" ADD COLUMN "actor_owner" text DEFAULT '' NOT NULL;--> statement-breakpoint
CREATE INDEX "tokens_owner" ON "tokens" USING btree ("owner_id","id");--> statement-breakpoint
CREATE INDEX "tokens_expires_at" ON "tokens" USING btree ("expires_at");