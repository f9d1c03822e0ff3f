/** What can be done to several users at once. */

export type BulkKind = "extend" | "disable";
