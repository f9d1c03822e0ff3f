/** The pages of an external user, loaded together: apart they weigh half as much again, and each click would wait for another. */

export { Connect } from "./connect.tsx";
export { Keys } from "./keys.tsx";
export { NotMe } from "./not-me.tsx";
export { Overview } from "./overview.tsx";
export { Trail } from "./trail.tsx";
