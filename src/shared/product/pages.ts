/** The console's pages: the one list that the server answers, the console shows and mails link to. */

/** Paths of pages; a part that begins with ":" stands for a number. No other path is a page: answers to others have the status 404. */
export const PAGES = {
  home: "/",
  apply: "/apply",
  login: "/login",
  forgot: "/forgot",
  reset: "/reset",
  decide: "/decide",
  me: "/me",
  keys: "/me/keys",
  connect: "/me/connect",
  trail: "/me/trail",
  notMe: "/me/not-me",
  ownCompany: "/me/company",
  dashboard: "/admin",
  applications: "/admin/applications",
  users: "/admin/users",
  user: "/admin/users/:id",
  companies: "/admin/companies",
  company: "/admin/companies/:id",
  userImport: "/admin/users/import",
  audit: "/admin/audit",
  access: "/admin/access",
  settings: "/admin/settings",
  profiles: "/admin/settings/profiles",
  admins: "/admin/admins",
  webhooks: "/admin/webhooks",
  tokens: "/admin/tokens",
  hosts: "/admin/hosts",
  host: "/admin/hosts/:id",
  hostGroups: "/admin/host-groups",
  hostGroup: "/admin/host-groups/:id",
  reviews: "/admin/reviews",
  review: "/admin/reviews/:id",
  sponsors: "/admin/sponsors",
  account: "/admin/account",
} as const;

export type PageName = keyof typeof PAGES;

const PATTERNS = Object.values(PAGES).map(
  (path) => new RegExp(`^${path.replace(/:\w+/g, "\\d{1,15}").replace(/\/$/, "")}/?$`),
);

/** Whether there is a page at this path; a trailing slash does not count. */
export function isPage(path: string): boolean {
  return PATTERNS.some((pattern) => pattern.test(path));
}

/** The path of the page about one user. */
export function userPage(id: number | string): string {
  return PAGES.user.replace(":id", String(id));
}

/** The path of the page about one company. */
export function companyPage(id: number | string): string {
  return PAGES.company.replace(":id", String(id));
}

/** The path of the page about one host. */
export function hostPage(id: number | string): string {
  return PAGES.host.replace(":id", String(id));
}

/** The path of the page about one review. */
export function reviewPage(id: number | string): string {
  return PAGES.review.replace(":id", String(id));
}

/** The path of the page about one group of hosts. */
export function hostGroupPage(id: number | string): string {
  return PAGES.hostGroup.replace(":id", String(id));
}
