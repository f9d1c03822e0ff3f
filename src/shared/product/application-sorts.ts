/** The orders in which applications are listed: the oldest, or the newest first. */
export const APPLICATION_SORTS = ["created_at", "-created_at"] as const;

export type ApplicationSort = (typeof APPLICATION_SORTS)[number];
