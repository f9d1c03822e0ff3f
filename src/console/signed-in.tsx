/** Shared by the pages behind a login: they ask for the right session first, and keep the service's answers for a while. */

import { QueryClient, QueryClientProvider } from "@tanstack/preact-query";
import type { ComponentChildren, ComponentType } from "preact";
import { useEffect } from "preact/hooks";
import { useLocation } from "preact-iso";
import { PAGES } from "../shared/product/pages.ts";
import { ApiFailure } from "./api.ts";
import { tellWaiting } from "./attention.ts";
import { homeOf } from "./navigation.ts";
import { useSession } from "./session.tsx";
import { common } from "./texts/common.ts";
import { Loading } from "./ui/loading.tsx";
import { Failure } from "./ui/notice.tsx";
import { Page } from "./ui/page.tsx";
import { useApi, WATCHED } from "./use-api.tsx";

/** Answers are shown again at once for this long, and asked for anew when they are older. */
const FRESH = 15_000;

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: FRESH,
      refetchOnWindowFocus: true,
      // A refusal stays one; a service that restarts is back soon.
      retry: (failures, error) => failures < 2 && error instanceof ApiFailure && error.status === 0,
      retryDelay: 1000,
    },
  },
});

/** Forgets every answer: what was changed may be in any of them. */
export async function forgetAnswers(): Promise<void> {
  await queries.invalidateQueries();
}

/** The session that the cached answers belong to; another session must not see them. */
let owner = "";

/** The page for a session of that kind; without one it says what is missing, and how to come back here. */
export function signedIn<P extends object>(kind: "admin" | "user", Content: ComponentType<P>): ComponentType<P> {
  return function SignedIn(props: P) {
    const { state } = useSession();
    const { path } = useLocation();
    if (state.kind !== "open" || state.principal.user_type !== kind) return <Missing kind={kind} />;
    const now = `${kind} ${state.principal.id}`;
    if (owner !== now) queries.clear();
    owner = now;
    if (state.principal.needs !== undefined && path !== PAGES.account) return <FactorNeeded />;
    return (
      <QueryClientProvider client={queries}>
        {kind === "admin" ? <Waiting key={state.principal.id} /> : null}
        <Content {...props} />
      </QueryClientProvider>
    );
  };
}

/** Tells the header what waits. Without an answer it says what it said, and the page what is wrong. */
function Waiting() {
  const { data } = useApi("GET /admin/attention", {}, WATCHED);
  useEffect(() => {
    const { problems, waiting } = common.nav;
    tellWaiting({
      [PAGES.dashboard]: { total: data?.problems ?? 0, what: problems(data?.problems ?? 0) },
      [PAGES.applications]: { total: data?.requests ?? 0, what: waiting(data?.requests ?? 0) },
    });
  }, [data]);
  return null;
}

function Missing({ kind }: { readonly kind: "admin" | "user" }) {
  const { state, refresh } = useSession();
  const { url } = useLocation();
  const { session } = common;
  if (state.kind === "loading") return <Loading />;
  if (state.kind === "failed") return <Failure failure={state.failure} onRetry={refresh} />;
  if (state.kind === "none") {
    queries.clear();
    return (
      <Page title={state.ended ? session.endedTitle : session.neededTitle}>
        <p>{state.ended ? session.ended : session.needed}</p>
        <LinkRow href={`/login?next=${encodeURIComponent(url)}`}>{common.logIn}</LinkRow>
      </Page>
    );
  }
  return (
    <Page title={session.wrongKindTitle}>
      <p>{session.wrongKind(kind)}</p>
      <LinkRow href={homeOf(state.principal.user_type)}>{session.goBack}</LinkRow>
    </Page>
  );
}

/** For administrators who first have to set up a second factor. */
function FactorNeeded() {
  const { session, nav } = common;
  return (
    <Page title={session.factorTitle}>
      <p>{common.reasons["login.factor_needed"]}</p>
      <LinkRow href={PAGES.account}>{nav.account}</LinkRow>
    </Page>
  );
}

function LinkRow({ href, children }: { readonly href: string; readonly children: ComponentChildren }) {
  return (
    <p>
      <a class="button primary" href={href}>
        {children}
      </a>
    </p>
  );
}
