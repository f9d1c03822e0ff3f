/** The frame around every page: where one is, where one can go, and whose session it is. */

import { useState } from "preact/hooks";
import { ErrorBoundary, LocationProvider, lazy, Route, Router, useLocation } from "preact-iso";
import { isPage, PAGES } from "../shared/pages.ts";
import { navigationFor } from "./navigation.ts";
import { Home } from "./pages/public/home.tsx";
import { Login } from "./pages/public/login.tsx";
import { NotFound } from "./pages/public/not-found.tsx";
import { SessionProvider, useSession } from "./session.tsx";
import { common } from "./texts/common.ts";
import { useAction } from "./ui/action.ts";
import { Announcer } from "./ui/announce.tsx";
import { Button } from "./ui/button.tsx";
import { Failure, Notice } from "./ui/notice.tsx";

// What most readers never open is loaded when they do.
const Apply = lazy(async () => (await import("./pages/public/apply.tsx")).Apply);
const Forgot = lazy(async () => (await import("./pages/public/forgot.tsx")).Forgot);
const Reset = lazy(async () => (await import("./pages/public/reset.tsx")).Reset);
const Me = lazy(async () => (await import("./pages/user/area.ts")).Overview);
const Keys = lazy(async () => (await import("./pages/user/area.ts")).Keys);
const Connect = lazy(async () => (await import("./pages/user/area.ts")).Connect);
const Trail = lazy(async () => (await import("./pages/user/area.ts")).Trail);
const NotMe = lazy(async () => (await import("./pages/user/area.ts")).NotMe);
const Dashboard = lazy(async () => (await import("./pages/admin/area.ts")).Dashboard);
const Applications = lazy(async () => (await import("./pages/admin/area.ts")).Applications);
const Users = lazy(async () => (await import("./pages/admin/area.ts")).Users);
const User = lazy(async () => (await import("./pages/admin/area.ts")).User);
const Audit = lazy(async () => (await import("./pages/admin/area.ts")).Audit);
const Settings = lazy(async () => (await import("./pages/admin/area.ts")).Settings);
const Admins = lazy(async () => (await import("./pages/admin/area.ts")).Admins);
const Account = lazy(async () => (await import("./pages/admin/area.ts")).Account);

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
  const { path } = useLocation();
  const [outdated, setOutdated] = useState(false);
  return (
    <>
      <a class="skip" href="#content">
        {common.skip}
      </a>
      <Header path={path} />
      <main id="content" class="shell" tabIndex={-1}>
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
          <ErrorBoundary onError={() => setOutdated(true)}>
            <Router>
              <Route path={PAGES.home} component={Home} />
              <Route path={PAGES.login} component={Login} />
              <Route path={PAGES.apply} component={Apply} />
              <Route path={PAGES.forgot} component={Forgot} />
              <Route path={PAGES.reset} component={Reset} />
              <Route path={PAGES.me} component={Me} />
              <Route path={PAGES.keys} component={Keys} />
              <Route path={PAGES.connect} component={Connect} />
              <Route path={PAGES.trail} component={Trail} />
              <Route path={PAGES.notMe} component={NotMe} />
              <Route path={PAGES.dashboard} component={Dashboard} />
              <Route path={PAGES.applications} component={Applications} />
              <Route path={PAGES.users} component={Users} />
              <Route path={PAGES.user} component={User} />
              <Route path={PAGES.audit} component={Audit} />
              <Route path={PAGES.settings} component={Settings} />
              <Route path={PAGES.admins} component={Admins} />
              <Route path={PAGES.account} component={Account} />
              <Route default component={NotFound} />
            </Router>
          </ErrorBoundary>
        )}
      </main>
      <Announcer />
    </>
  );
}

function Header({ path }: { readonly path: string }) {
  const session = useSession();
  const leaving = useAction(session.leave);
  const { state } = session;
  const links = navigationFor(state);
  const here = links.filter(({ href }) => href === path || (isPage(path) && path.startsWith(`${href}/`)));
  const current = here.sort((a, b) => b.href.length - a.href.length)[0];
  return (
    <header class="top">
      <a class="brand" href={PAGES.home}>
        {common.product}
      </a>
      <nav aria-label={common.menu}>
        <ul class="menu">
          {links.map((link) => (
            <li key={link.href}>
              <a href={link.href} aria-current={link === current ? "page" : undefined}>
                {link.text}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      {state.kind === "open" ? (
        <div class="who">
          <span class="quiet" title={common.loggedInAs(state.principal.username)}>
            {state.principal.username}
          </span>
          <Button busy={leaving.busy && common.loggingOut} onClick={() => void leaving.run()}>
            {common.logOut}
          </Button>
        </div>
      ) : null}
      <Failure failure={leaving.failure} />
    </header>
  );
}

/** Whether the browser keeps a session cookie here: over HTTPS, or on the machine itself. */
function isSecure(): boolean {
  return isSecureContext;
}
