/** The pages of this area, as one file to load. */

export { Account } from "./account.tsx";
export { Admins } from "./admins.tsx";
export { Applications } from "./applications.tsx";
export { Audit } from "./audit.tsx";
export { Dashboard } from "./dashboard.tsx";
export { Settings } from "./settings.tsx";
export { Tokens } from "./tokens.tsx";
export { User } from "./user.tsx";
export { Users } from "./users.tsx";
export { Webhooks } from "./webhooks.tsx";
