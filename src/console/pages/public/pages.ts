/** The pages of this area, as one file to load. */

export { Apply } from "./apply.tsx";
export { Forgot } from "./forgot.tsx";
export { Reset } from "./reset.tsx";
