/** Logging in: whose login it is, its steps, and where it leads. */

import { useEffect, useRef, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { PAGES } from "../../../shared/product/pages.ts";
import { CHOSEN_LOGIN, type Principal, useSession } from "../../session.tsx";
import { publicTexts } from "../../texts/public.ts";
import { useAction } from "../../ui/action.ts";
import { announce } from "../../ui/announce.tsx";
import { Button } from "../../ui/button.tsx";
import { Loading } from "../../ui/loading.tsx";
import { Failure } from "../../ui/notice.tsx";
import { Page } from "../../ui/page.tsx";
import { Beside } from "./beside.tsx";
import { useFragment } from "./fragment.ts";
import { AdminLogin } from "./login/admin-login.tsx";
import { CodeStep } from "./login/code-step.tsx";
import { NameStep } from "./login/name-step.tsx";
import { SsoLogin, SsoRefusal, useSsoReturn } from "./login/sso-login.tsx";
import { loginUrl, type MailedCode, mailedCode, mailedName, nextOf, type Way, wayOf } from "./login/ways.ts";

export function Login() {
  const { state, enter, refresh } = useSession();
  const { query, route } = useLocation();
  const link = useFragment(mailedCode);
  const named = useFragment(mailedName);
  const [isEntered, setEntered] = useState(false);
  const onEntered = (principal: Principal) => {
    localStorage.setItem(CHOSEN_LOGIN, principal.user_type);
    setEntered(true);
    enter(principal);
    route(principal.needs === undefined ? nextOf(query.next, principal.user_type) : PAGES.account, true);
  };
  const isReturning = useSsoReturn(query, onEntered);
  const { login, already } = publicTexts;
  if (isEntered || isReturning) {
    return (
      <Page key="login" title={login.title}>
        <p role="status">{login.entering}</p>
      </Page>
    );
  }
  if (state.kind === "open") {
    return (
      <Page key="already" title={already.title}>
        <Already principal={state.principal} link={link} />
      </Page>
    );
  }
  return (
    <Page key="login" title={login.title}>
      {state.kind === "failed" ? <Failure failure={state.failure} onRetry={refresh} /> : null}
      {state.kind === "loading" ? <Loading /> : <Ways {...{ link, named, onEntered }} />}
    </Page>
  );
}

interface WaysProps {
  readonly link: MailedCode | undefined;
  /** For whom a mail asks to log in. */
  readonly named: string | undefined;
  readonly onEntered: (principal: Principal) => void;
}

/** Two clear ways; the address says which of them is shown. */
function Ways({ link, named, onEntered }: WaysProps) {
  const { query, route } = useLocation();
  const [used, setUsed] = useState<MailedCode>();
  const isNew = link !== undefined && link !== used;
  const way = isNew ? "user" : wayOf(query, named === undefined ? localStorage.getItem(CHOSEN_LOGIN) : "user");
  useEffect(() => {
    if (!isNew) return;
    setUsed(link);
    route(loginUrl({ as: "user", step: "code" }, query), true);
  }, [isNew]);
  const { login } = publicTexts;
  return (
    <Beside {...login.inside[way]}>
      <div class="card narrow">
        <nav aria-label={login.ways}>
          <ul class="ways">
            <WayLink to="user" current={way} name={login.user} hint={login.userHint} />
            <WayLink to="admin" current={way} name={login.admin} hint={login.adminHint} />
          </ul>
        </nav>
        {way === "admin" ? (
          <>
            <SsoRefusal query={query} />
            <SsoLogin query={query} />
            <AdminLogin onEntered={onEntered} />
          </>
        ) : (
          <UserLogin {...{ link, named, onEntered }} atCode={isNew || query.step === "code"} />
        )}
        {way === "admin" ? null : (
          <p>
            {login.noAccount} <a href={PAGES.apply}>{login.apply}</a>
          </p>
        )}
      </div>
    </Beside>
  );
}

interface WayLinkProps {
  readonly to: Way;
  readonly current: Way;
  readonly name: string;
  readonly hint: string;
}

function WayLink({ to, current, name, hint }: WayLinkProps) {
  const { query } = useLocation();
  return (
    <li>
      <a
        href={loginUrl({ as: to }, query)}
        aria-current={to === current ? "page" : undefined}
        onClick={() => {
          localStorage.setItem(CHOSEN_LOGIN, to);
          announce(`${name}, ${hint}`);
        }}
      >
        <strong>{name}</strong> <span>{hint}</span>
      </a>
    </li>
  );
}

/** The two steps of an external user; the second has an address too, so that the back button leads to the first. */
function UserLogin({ link, named, atCode, onEntered }: WaysProps & { readonly atCode: boolean }) {
  const { query, route } = useLocation();
  const [name, setName] = useState(link?.name ?? named ?? "");
  const [mailed, setMailed] = useState(link);
  const [sentTo, setSentTo] = useState<string>();
  const steps = useRef<HTMLDivElement>(null);
  const shownStep = useRef(atCode);
  useEffect(() => {
    if (link === undefined) return;
    setName(link.name);
    setMailed(link);
    setSentTo(undefined);
  }, [link]);
  useEffect(() => {
    if (named !== undefined) setName(named);
  }, [named]);
  useEffect(() => {
    if (shownStep.current === atCode) return;
    shownStep.current = atCode;
    const field = steps.current?.querySelector(atCode ? "[name=code]" : "[name=username]");
    if (field instanceof HTMLElement) field.focus();
  }, [atCode]);
  const showCode = (sent: string | undefined) => {
    const { code } = publicTexts;
    setMailed(undefined);
    setSentTo(sent);
    route(loginUrl({ as: "user", step: "code" }, query));
    if (sent !== undefined) announce(`${code.sentTitle(sent)}. ${code.sentText}`);
  };
  return (
    <div ref={steps}>
      {atCode ? (
        <CodeStep
          {...{ name, sentTo, onEntered }}
          onName={setName}
          link={mailed}
          anotherUrl={loginUrl({ as: "user" }, query)}
        />
      ) : (
        <NameStep name={name} onName={setName} onSent={showCode} onHave={() => showCode(undefined)} />
      )}
    </div>
  );
}

interface AlreadyProps {
  readonly principal: Principal;
  readonly link: MailedCode | undefined;
}

function Already({ principal, link }: AlreadyProps) {
  const { leave } = useSession();
  const { query } = useLocation();
  const leaving = useAction(leave);
  const { already } = publicTexts;
  const { username, user_type: kind } = principal;
  return (
    <div class="card narrow">
      <p>
        {already.as[kind]} <strong class="typed">{username}</strong>.
      </p>
      {link === undefined || link.name === username ? null : <p>{already.codeWaits(link.name)}</p>}
      <Failure failure={leaving.failure} />
      <p class="actions">
        <a class="button primary" href={nextOf(query.next, kind)}>
          {already.goOn}
        </a>
        <Button busy={leaving.busy && already.leaving} onClick={() => void leaving.run()}>
          {already.leave}
        </Button>
      </p>
    </div>
  );
}
