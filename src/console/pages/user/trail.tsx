/** One's own audit trail, in words, with the recorded action beside. */

import { useLocation } from "preact-iso";
import { PAGES } from "../../../shared/product/pages.ts";
import { type AnswerOf, searchOf } from "../../api.ts";
import { signedIn } from "../../signed-in.tsx";
import { userTexts } from "../../texts/user/user.ts";
import { endMoment } from "../../ui/clock.ts";
import { isolated } from "../../ui/isolated.ts";
import { Page } from "../../ui/page.tsx";
import { pageOf } from "../../ui/page-number.ts";
import { Pager, Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { Typed } from "../../ui/typed.tsx";
import { Loaded, useApi } from "../../use-api.tsx";
import { type OwnAccount, useOwnAccount } from "./own-account.ts";
import { Standing } from "./standing.tsx";
import { sentenceOf } from "./trail/sentence.ts";

type Trail = AnswerOf<"GET /me/audit">;
type Item = Trail["items"][number];

const PAGE_SIZE = 25;

export const Trail = signedIn("user", () => {
  const own = useOwnAccount();
  const { query } = useLocation();
  const page = pageOf(query.page);
  const records = useApi("GET /me/audit", { query: { page: String(page), page_size: String(PAGE_SIZE) } });
  const { trail } = userTexts;
  return (
    <Page title={trail.title}>
      <p>{trail.lead}</p>
      <Loaded query={own}>
        {(account) => (
          <div class="stack">
            <Standing own={account} page="trail" />
            <p>
              {trail.notYou} <a href={PAGES.notMe}>{trail.notYouLink}</a>
            </p>
            <Loaded query={records}>
              {({ total, items }) => (
                <>
                  {total === 0 ? <p class="empty">{trail.none}</p> : <Records own={account} items={items} />}
                  <Pager page={page} pageSize={PAGE_SIZE} total={total} href={addressOf} />
                </>
              )}
            </Loaded>
          </div>
        )}
      </Loaded>
    </Page>
  );
});

function addressOf(page: number): string {
  return `${PAGES.trail}${searchOf(page === 1 ? {} : { page })}`;
}

function Records({ own, items }: { readonly own: OwnAccount; readonly items: readonly Item[] }) {
  const { trail } = userTexts;
  if (items.length === 0) return null;
  return (
    <div class="table">
      <Table
        caption={trail.caption}
        items={items}
        columns={[
          { name: trail.when, cell: ({ created_at }) => <Time at={created_at} both /> },
          { name: trail.what, cell: (item) => <What own={own} item={item} />, isHeader: true },
        ]}
      />
    </div>
  );
}

function What({ own, item }: { readonly own: OwnAccount; readonly item: Item }) {
  const { trail } = userTexts;
  const { sentence, why } = sentenceOf(item, own.username, { texts: trail, isolated, moment: endMoment });
  return (
    <div class="event">
      <span>
        {sentence} {item.result === "failed" ? <span class="status rejected">{trail.failed}</span> : null}
      </span>
      {why === "" ? null : (
        <span>
          {trail.why} <Typed text={why} />
        </span>
      )}
      <span class="quiet">
        <code>{item.action}</code> {item.ip === "" ? null : trail.from(isolated(item.ip))}
      </span>
    </div>
  );
}
