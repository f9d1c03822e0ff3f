import type { Operations } from "./operations.js";

/** Method and path of each operation. */
export const ROUTES: Readonly<Record<keyof Operations, readonly [method: string, path: string]>>;
