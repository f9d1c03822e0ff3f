/** The pages of this area, as one file to load. */

export { OwnCompany as ownCompany } from "./company.tsx";
export { Connect as connect } from "./connect.tsx";
export { Keys as keys } from "./keys.tsx";
export { NotMe as notMe } from "./not-me.tsx";
export { Overview as me } from "./overview.tsx";
export { Trail as trail } from "./trail.tsx";
