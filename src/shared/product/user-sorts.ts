/** The orders in which users are listed; a minus sign turns one round. */
export const USER_SORTS = ["created_at", "-created_at", "username", "-username", "expire_at", "-expire_at"] as const;

export type UserSort = (typeof USER_SORTS)[number];

/** Newest first. */
export const DEFAULT_SORT: UserSort = "-created_at";
