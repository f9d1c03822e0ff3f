/** The pages of this area, as one file to load. */

export { Connect } from "./connect.tsx";
export { Keys } from "./keys.tsx";
export { NotMe } from "./not-me.tsx";
export { Overview } from "./overview.tsx";
export { Trail } from "./trail.tsx";
