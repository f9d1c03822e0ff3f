/** The actions for several users at once. */

export type BulkKind = "extend" | "disable";
