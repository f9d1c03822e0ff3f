CREATE TABLE "repairs" (
	"user_id" bigint NOT NULL,
	"kind" text NOT NULL,
	"noted_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "repairs_user_id_kind_pk" PRIMARY KEY("user_id","kind")
);
--> statement-breakpoint
-- They were among the locks, as repair/USER/KIND KIND …
INSERT INTO "repairs" ("user_id", "kind", "noted_at")
	SELECT split_part("id", '/', 2)::bigint, "kind", min("at")
	FROM "imported_locks", unnest(string_to_array(split_part("id", '/', 3), ' ')) AS "kind"
	WHERE "id" LIKE 'repair/%' GROUP BY 1, 2;--> statement-breakpoint
DELETE FROM "imported_locks" WHERE "id" LIKE 'repair/%';
