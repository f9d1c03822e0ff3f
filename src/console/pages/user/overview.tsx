/** A user's first page: until when, how to connect, which keys, and how to get more time. */

import { PAGES } from "../../../shared/product/pages.ts";
import { signedIn } from "../../signed-in.tsx";
import { ownCompanyTexts } from "../../texts/user/company.ts";
import { userTexts } from "../../texts/user/user.ts";
import { day } from "../../ui/clock.ts";
import { Notice } from "../../ui/notice.tsx";
import { Page, Section } from "../../ui/page.tsx";
import { Typed } from "../../ui/typed.tsx";
import { Loaded } from "../../use-api.tsx";
import { AccessOnRequest } from "./overview/access.tsx";
import { End } from "./overview/end.tsx";
import { OwnHours } from "./overview/hours.tsx";
import { MoreTime } from "./overview/more-time.tsx";
import { type OwnAccount, useOwnAccount, useOwnKeys } from "./own-account.ts";
import { OwnCommand } from "./own-command.tsx";
import { AskForTerms, isAsked, TermsAgain } from "./terms.tsx";

export const Overview = signedIn("user", () => {
  const own = useOwnAccount();
  const keys = useOwnKeys();
  return (
    <Page title={userTexts.overview.title}>
      <Loaded query={own}>
        {(account) => (
          <div class="stack">
            <AskForTerms own={account} />
            {account.status === "active" && keys.data?.items.length === 0 && !isAsked(account) ? <FirstKey /> : null}
            <End own={account} />
            <OwnHours own={account} />
            <AccessOnRequest own={account} />
            <div class="columns">
              <Connection own={account} hasKeys={keys.data?.items.length !== 0} />
              <Loaded query={keys}>{({ items }) => <Keys own={account} count={items.length} />}</Loaded>
            </div>
            <MoreTime own={account} />
            {account.manager && account.status === "active" ? (
              <Section title={ownCompanyTexts.title}>
                <p>
                  <a href={PAGES.ownCompany}>{ownCompanyTexts.link}</a>
                </p>
              </Section>
            ) : null}
            <Account own={account} />
            <TermsAgain own={account} />
          </div>
        )}
      </Loaded>
    </Page>
  );
});

function FirstKey() {
  const { first } = userTexts.overview;
  return (
    <Notice kind="info" title={first.title}>
      <p>{first.text}</p>
      <a class="button primary" href={PAGES.keys}>
        {first.link}
      </a>
    </Notice>
  );
}

function Connection({ own, hasKeys }: { readonly own: OwnAccount; readonly hasKeys: boolean }) {
  const { connect } = userTexts.overview;
  return (
    <Section title={connect.title}>
      {own.status === "active" ? hasKeys ? null : <p>{connect.none}</p> : <p>{connect.shut}</p>}
      <OwnCommand own={own} label={connect.label} />
      <p>
        <a href={PAGES.connect}>{connect.more}</a>
      </p>
    </Section>
  );
}

function Keys({ own, count }: { readonly own: OwnAccount; readonly count: number }) {
  const { keys } = userTexts.overview;
  return (
    <Section title={keys.title}>
      <p>{count === 0 ? keys.none : own.status === "active" ? keys.count(count) : keys.idle(count)}</p>
      <p>
        <a href={PAGES.keys}>{keys.link}</a>
      </p>
    </Section>
  );
}

function Account({ own }: { readonly own: OwnAccount }) {
  const { account } = userTexts.overview;
  const facts: readonly (readonly [string, string])[] = [
    [account.username, own.username],
    [account.hostAccount, own.host_account],
    [account.email, own.email],
    [account.supervisor, own.supervisor],
    [account.purpose, own.purpose],
    [account.created, day(own.created_at)],
  ];
  return (
    <Section title={account.title}>
      <dl class="facts">
        {facts
          .filter(([, value]) => value !== "")
          .map(([name, value]) => (
            <>
              <dt>{name}</dt>
              <dd>
                <Typed text={value} />
              </dd>
            </>
          ))}
      </dl>
      <p class="hint">{account.change}</p>
    </Section>
  );
}
