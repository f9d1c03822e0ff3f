/** The pages of an administrator, loaded together: apart they weigh half as much again, and each click would wait for another. */

export { Account } from "./account.tsx";
export { Admins } from "./admins.tsx";
export { Applications } from "./applications.tsx";
export { Audit } from "./audit.tsx";
export { Dashboard } from "./dashboard.tsx";
export { Settings } from "./settings.tsx";
export { User } from "./user.tsx";
export { Users } from "./users.tsx";
