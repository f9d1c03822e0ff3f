/** Tokens for machines: one's own, and for owners everybody's. */

import { useLocation } from "preact-iso";
import { PAGES } from "../../../shared/product/pages.ts";
import { searchOf } from "../../api.ts";
import { signedIn } from "../../signed-in.tsx";
import { roleTexts } from "../../texts/admin/roles.ts";
import { tokensTexts as texts } from "../../texts/admin/tokens.ts";
import { common } from "../../texts/common.ts";
import { Button } from "../../ui/button.tsx";
import { isolated } from "../../ui/isolated.ts";
import { Page } from "../../ui/page.tsx";
import { pageOf } from "../../ui/page-number.ts";
import { type Column, PagedTable } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { Typed } from "../../ui/typed.tsx";
import { useDialog } from "../../ui/use-dialog.ts";
import { Loaded, useApi } from "../../use-api.tsx";
import { useWanted } from "../../use-wanted.ts";
import { Done, useDone } from "./done.tsx";
import { useRole } from "./for-role.tsx";
import { useOneTimeSecret } from "./one-time-secret.tsx";
import { MadeToken } from "./tokens/made-token.tsx";
import { MakeToken } from "./tokens/make-token.tsx";
import { RevokeToken, type Token } from "./tokens/revoke-token.tsx";

const PAGE_SIZE = 50;

type Open = { readonly what: "make" } | { readonly what: "revoke"; readonly token: Token };

export const Tokens = signedIn("admin", () => {
  const done = useDone();
  const { open, start, props: dialog } = useDialog<Open>(done.tell);
  const made = useOneTimeSecret(texts.made.closed);
  useWanted("make", () => start({ what: "make" }));
  return (
    <Page
      title={texts.title}
      actions={
        <Button kind="primary" onClick={() => start({ what: "make" })}>
          {texts.make.open}
        </Button>
      }
    >
      <p class="lead">{texts.lead}</p>
      <Done what={made.what} />
      <Done what={done.what} />
      <TokenList onRevoke={(token) => start({ what: "revoke", token })} />
      {open?.what === "make" ? (
        <MakeToken
          onClose={dialog.onClose}
          onMade={(token) => made.show(<MadeToken made={token} onClose={made.hide} />)}
        />
      ) : null}
      {open?.what === "revoke" ? <RevokeToken token={open.token} {...dialog} /> : null}
    </Page>
  );
});

function TokenList({ onRevoke }: { readonly onRevoke: (token: Token) => void }) {
  const { query } = useLocation();
  const page = pageOf(query.page);
  const columns = columnsFor(useRole() === "owner", onRevoke);
  const answer = useApi("GET /tokens", { query: { page: String(page), page_size: String(PAGE_SIZE) } });
  return (
    <Loaded query={answer}>
      {({ total, items }) => (
        <PagedTable
          caption={texts.caption}
          {...{ columns, items, page, total }}
          pageSize={PAGE_SIZE}
          href={(to) => `${PAGES.tokens}${searchOf({ page: to === 1 ? undefined : to })}`}
          empty={total === 0 ? texts.empty : texts.pastEnd}
        />
      )}
    </Loaded>
  );
}

function columnsFor(seesAll: boolean, onRevoke: (token: Token) => void): readonly Column<Token>[] {
  const { columns } = texts;
  const owner: Column<Token> = { name: columns.owner, cell: (token) => <bdi class="typed">{token.owner}</bdi> };
  return [
    {
      name: columns.name,
      isHeader: true,
      cell: ({ id, name, prefix, made_by: madeBy }) => (
        <div>
          <Typed text={name} />
          <p class="hint">
            <code>{prefix}…</code>, {texts.number(id, madeBy)}
          </p>
        </div>
      ),
    },
    ...(seesAll ? [owner] : []),
    { name: columns.role, isEvident: true, cell: ({ role }) => <span class="whole">{roleTexts.names[role]}</span> },
    {
      name: columns.status,
      isEvident: true,
      cell: ({ status }) => (
        <span class={`status ${status === "active" ? "active" : "expired"}`}>{texts.status[status]}</span>
      ),
    },
    {
      name: columns.ends,
      cell: ({ status, revoked_at, expires_at }) => (
        <Time at={status === "revoked" ? (revoked_at ?? expires_at) : expires_at} />
      ),
    },
    {
      name: columns.used,
      cell: ({ last_used_at: at, last_used_from: from }) =>
        at === null ? (
          texts.never
        ) : (
          <span>
            <Time at={at} /> {from === "" ? null : <span class="hint">{texts.from(from)}</span>}
          </span>
        ),
    },
    {
      name: columns.networks,
      cell: ({ networks }) =>
        networks.length === 0 ? texts.anywhere : <span class="typed ranges">{networks.join(", ")}</span>,
    },
    {
      name: columns.act,
      isEvident: true,
      cell: (token) =>
        token.status === "active" ? (
          <Button
            kind="danger"
            aria-label={texts.revoke.openOf(isolated(token.name), token.prefix)}
            onClick={() => onRevoke(token)}
          >
            {texts.revoke.open}
          </Button>
        ) : (
          common.dash
        ),
    },
  ];
}
