/** The pages of administrators, those of hosts among them, as one file to load: as two, they would weigh 4 kB more. */

export { Companies as companies } from "../companies/companies.tsx";
export { Company as company } from "../companies/company.tsx";
export { Host as host } from "../hosts/host.tsx";
export { HostGroup as hostGroup } from "../hosts/host-group.tsx";
export { HostGroups as hostGroups } from "../hosts/host-groups.tsx";
export { Hosts as hosts } from "../hosts/hosts.tsx";
export { Profiles as profiles } from "../profiles/profiles.tsx";
export { Review as review } from "../reviews/review.tsx";
export { Reviews as reviews } from "../reviews/reviews.tsx";
export { Sponsors as sponsors } from "../reviews/sponsors.tsx";
export { Account as account } from "./account.tsx";
export { Admins as admins } from "./admins.tsx";
export { Applications as applications } from "./applications.tsx";
export { PastAccess as access } from "./audit/access.tsx";
export { Audit as audit } from "./audit.tsx";
export { Dashboard as dashboard } from "./dashboard.tsx";
export { ImportUsers as userImport } from "./import/import-users.tsx";
export { Settings as settings } from "./settings.tsx";
export { Tokens as tokens } from "./tokens.tsx";
export { User as user } from "./user.tsx";
export { Users as users } from "./users.tsx";
export { Webhooks as webhooks } from "./webhooks.tsx";
