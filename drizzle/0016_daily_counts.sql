CREATE TABLE "change_counts" (
	"date" date PRIMARY KEY NOT NULL,
	"changes" integer NOT NULL,
	"failed" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "user_counts" (
	"date" date PRIMARY KEY NOT NULL,
	"active" integer NOT NULL,
	"disabled" integer NOT NULL,
	"expired" integer NOT NULL
);
