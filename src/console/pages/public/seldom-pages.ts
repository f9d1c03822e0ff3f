/** The pages that few people open without a session, as one file to load. */

export { Decide as decide } from "./decide.tsx";
export { Forgot as forgot } from "./forgot.tsx";
export { NotFound } from "./not-found.tsx";
export { Reset as reset } from "./reset.tsx";
