/** The frame around every page: where one is, where one can go, and whose session it is. */

import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ErrorBoundary, LocationProvider, lazy, Route, Router, useLocation } from "preact-iso";
import { isPage, PAGES, type PageName } from "../shared/product/pages.ts";
import { api } from "./api.ts";
import { useWaiting, type Waiting } from "./attention.ts";
import { Finder } from "./finder.tsx";
import { Footer } from "./footer.tsx";
import { type Installation, useInstallation } from "./installation.ts";
import { navigationFor } from "./navigation.ts";
import { Apply } from "./pages/public/apply.tsx";
import { Home } from "./pages/public/home.tsx";
import { Login } from "./pages/public/login.tsx";
import { maySee } from "./roles.ts";
import { type Principal, SessionProvider, type SessionState, useSession } from "./session.tsx";
import { common } from "./texts/common.ts";
import { number } from "./texts/language.ts";
import { useAction } from "./ui/action.ts";
import { Announcer } from "./ui/announce.tsx";
import { Button } from "./ui/button.tsx";
import { Failure, Notice } from "./ui/notice.tsx";

// Pages that somebody opens on one day are one file, loaded with the first of them: many small files compress worse.
const seldomPages = () => import("./pages/public/seldom-pages.ts");
const NotFound = lazy(async () => (await seldomPages()).NotFound);
const adminPages = () => import("./pages/admin/pages.ts");
const PAGES_BY_AREA = [
  pagesOf(seldomPages, ["forgot", "reset", "decide"]),
  pagesOf(() => import("./pages/user/pages.ts"), ["me", "keys", "connect", "trail", "notMe", "ownCompany"]),
  pagesOf(adminPages, ["dashboard", "applications", "users", "audit", "access", "settings", "admins", "webhooks"]),
  // The address of one user fits every name below the list's: the import comes before it.
  pagesOf(adminPages, ["userImport", "user", "tokens", "account", "hosts", "host", "hostGroups", "hostGroup"]),
  pagesOf(adminPages, ["companies", "company", "reviews", "review", "sponsors", "profiles"]),
];

/** Pages of an area under the names that their addresses have. */
function pagesOf<K extends PageName>(load: () => Promise<Readonly<Record<K, ComponentType>>>, names: readonly K[]) {
  return names.map((name) => (
    <Route path={PAGES[name]} component={lazy<ComponentType>(async () => (await load())[name])} />
  ));
}

export function App() {
  return (
    <SessionProvider>
      <LocationProvider>
        <Frame />
      </LocationProvider>
    </SessionProvider>
  );
}

function Frame() {
  const { path, url } = useLocation();
  // The router is not as strict as the service, which has answered that there is no such page.
  const isLost = !isPage(url.replace(/[?#].*$/s, ""));
  const [outdated, setOutdated] = useState(false);
  const installation = useInstallation();
  return (
    <>
      <a class="skip" href="#content">
        {common.skip}
      </a>
      <Header path={path} installation={installation} />
      <main id="content" class="shell" tabIndex={-1}>
        {installation?.dry_run ? <p class="dry-run">{common.dryRun}</p> : null}
        {isSecure() ? null : (
          <Notice kind="warn" title={common.insecure.title}>
            <p>{common.insecure.text}</p>
          </Notice>
        )}
        {outdated ? (
          <Notice kind="info">
            <p>{common.newVersion}</p>
            <Button onClick={() => location.reload()}>{common.reload}</Button>
          </Notice>
        ) : (
          // A script that cannot be loaded is one whose name changed: the service was updated meanwhile.
          <ErrorBoundary onError={() => setOutdated(true)}>{isLost ? <NotFound /> : <Pages />}</ErrorBoundary>
        )}
      </main>
      <Footer installation={installation} />
      <Announcer />
    </>
  );
}

/** The page of the address. */
function Pages() {
  return (
    <Router>
      <Route path={PAGES.home} component={Home} />
      <Route path={PAGES.login} component={Login} />
      <Route path={PAGES.apply} component={Apply} />
      {PAGES_BY_AREA}
      <Route default component={NotFound} />
    </Router>
  );
}

/** So many links are in one row on the smallest phones. */
const FITS_A_PHONE = 2;

interface HeaderProps {
  readonly path: string;
  readonly installation: Installation | undefined;
}

function Header({ path, installation }: HeaderProps) {
  const session = useSession();
  const [isOpen, setOpen] = useState(false);
  useEffect(() => setOpen(false), [path]);
  const leaving = useAction(session.leave);
  const { state } = session;
  const isOnHosts = path.startsWith(PAGES.hosts) || path.startsWith(PAGES.hostGroups);
  const hasHosts = useOtherHosts(state, isOnHosts) || isOnHosts;
  // A sponsor has no account, and came by a link to be asked one thing.
  const links = path === PAGES.decide && state.kind === "none" ? [] : navigationFor(state, hasHosts);
  // Groups of hosts are a part of the hosts, companies of the users, sponsors of the reviews, and past access of the log.
  const isListed = links.some(({ href }) => href === path);
  const place = (isListed ? path : path.replace(PAGES.access, PAGES.audit))
    .replace(PAGES.hostGroups, PAGES.hosts)
    .replace(PAGES.companies, PAGES.users)
    .replace(PAGES.sponsors, PAGES.reviews);
  // Pages below the dashboard's address are not part of it.
  const isWithin = (href: string) => href !== PAGES.dashboard && isPage(path) && place.startsWith(`${href}/`);
  const here = links.filter(({ href }) => href === place || isWithin(href));
  const current = here.sort((a, b) => b.href.length - a.href.length)[0];
  const waiting = useWaiting();
  return (
    <header class="top">
      <Brand installation={installation} />
      {links.length > FITS_A_PHONE ? (
        <button
          type="button"
          class="menu-button"
          aria-expanded={isOpen}
          aria-controls="pages"
          {...countOf(links.map(({ href }) => waiting[href]))}
          onClick={() => setOpen(!isOpen)}
        >
          {current?.text ?? common.menu} <span aria-hidden="true">{isOpen ? "▴" : "▾"}</span>
        </button>
      ) : null}
      <nav id="pages" class={isOpen ? "open" : undefined} aria-label={common.menu}>
        <ul class="menu">
          {links.map((link) => (
            <li key={link.href}>
              <a
                href={link.href}
                aria-current={link === current ? "page" : undefined}
                {...countOf([waiting[link.href]])}
              >
                {link.text}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      {state.kind === "open" && state.principal.needs === undefined ? <Finder principal={state.principal} /> : null}
      {state.kind === "open" ? (
        <div class="who">
          <Who principal={state.principal} isHere={path === PAGES.account} />
          <Button busy={leaving.busy && common.loggingOut} onClick={() => void leaving.run()}>
            {common.logOut}
          </Button>
        </div>
      ) : null}
      <Failure failure={leaving.failure} />
    </header>
  );
}

/** The attributes of a link or button that show how much waits behind it; those who hear it are told what. */
function countOf(waiting: readonly (Waiting[string] | undefined)[]) {
  const some = waiting.filter((one) => one !== undefined).filter(({ total }) => total > 0);
  if (some.length === 0) return {};
  const sum = some.reduce((before, { total }) => before + total, 0);
  return { title: some.map(({ what }) => what).join(", "), "data-count": number(sum) };
}

/** Who offers the service, and where: the product's name until it is known, and if none is configured. */
function Brand({ installation }: Pick<HeaderProps, "installation">) {
  const { brand = "", logo = null } = installation ?? {};
  return (
    <a class="brand" href={PAGES.home}>
      {logo === null ? null : <img src={logo} alt="" />}
      <span>
        {brand === "" ? common.product : <bdi>{brand}</bdi>} <small>{location.host}</small>
      </span>
    </a>
  );
}

/** Whether there are other hosts than the service's own: asked for administrators once, and again when they leave the pages of hosts. */
function useOtherHosts(state: SessionState, isOnHosts: boolean): boolean {
  const [has, setHas] = useState(false);
  const role = state.kind === "open" && state.principal.user_type === "admin" ? state.principal.role : undefined;
  useEffect(() => {
    if (role === undefined || !maySee(role, "hosts") || isOnHosts) return;
    // Without an answer the page itself says what is wrong.
    api("GET /hosts", { query: { page_size: "1" } }).then(
      ({ total }) => setHas(total > 1),
      () => {},
    );
  }, [role, isOnHosts]);
  return has;
}

/** Whether the browser keeps a session cookie here: over HTTPS, or on the machine itself. */
function isSecure(): boolean {
  return isSecureContext;
}

/** The session's owner; for an administrator, the way to their own login. */
function Who({
  principal: { user_type: kind, username },
  isHere,
}: {
  readonly principal: Principal;
  readonly isHere: boolean;
}) {
  const { loggedInAs, nav } = common;
  if (kind === "user") return <span title={loggedInAs(username)}>{username}</span>;
  return (
    <a href={PAGES.account} aria-current={isHere ? "page" : undefined} aria-label={`${username}: ${nav.account}`}>
      {username}
    </a>
  );
}
