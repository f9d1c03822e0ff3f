/** Webhooks, and the stream of audit records: where changes are told of, and how the receivers are doing. */

import { useLocation } from "preact-iso";
import { PAGES } from "../../../shared/product/pages.ts";
import { searchOf } from "../../api.ts";
import { mayChange } from "../../roles.ts";
import { signedIn } from "../../signed-in.tsx";
import { webhooksTexts as texts } from "../../texts/admin/webhooks.ts";
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
import { forRole, ReadOnly, useRole } from "./for-role.tsx";
import { useOneTimeSecret } from "./one-time-secret.tsx";
import { ChangeWebhook } from "./webhooks/change-webhook.tsx";
import { DeleteWebhook } from "./webhooks/delete-webhook.tsx";
import { Deliveries } from "./webhooks/deliveries.tsx";
import { MadeWebhook } from "./webhooks/made-webhook.tsx";
import { MakeWebhook } from "./webhooks/make-webhook.tsx";
import { Ping } from "./webhooks/ping.tsx";
import { Stream } from "./webhooks/stream.tsx";
import type { Webhook } from "./webhooks/wanted.ts";

const PAGE_SIZE = 50;

type Open =
  | { readonly what: "make" }
  | { readonly what: "change" | "delete" | "deliveries"; readonly webhook: Webhook };

export const Webhooks = signedIn(
  "admin",
  forRole("webhooks", () => {
    const isOwner = mayChange(useRole(), "webhooks");
    const done = useDone();
    const { open, start: show, props: dialog } = useDialog<Open>(done.tell);
    const made = useOneTimeSecret(texts.made.closed);
    const start = (next: Open) => {
      done.clear();
      show(next);
    };
    useWanted("make", () => (isOwner ? start({ what: "make" }) : undefined));
    return (
      <Page
        title={texts.title}
        actions={
          isOwner ? (
            <Button kind="primary" onClick={() => start({ what: "make" })}>
              {texts.make.open}
            </Button>
          ) : undefined
        }
      >
        <p class="lead">{texts.lead}</p>
        <ReadOnly area="webhooks" />
        <Done what={made.what} />
        <Done what={done.what} />
        <WebhookList
          isOwner={isOwner}
          onOpen={start}
          onTold={(sentence, kind) => done.tell(sentence, undefined, kind)}
        />
        <StreamState />
        {open?.what === "make" ? (
          <MakeWebhook
            onClose={dialog.onClose}
            onMade={({ secret }) => made.show(<MadeWebhook secret={secret} onClose={made.hide} />)}
          />
        ) : null}
        {open?.what === "change" ? <ChangeWebhook webhook={open.webhook} {...dialog} /> : null}
        {open?.what === "delete" ? <DeleteWebhook webhook={open.webhook} {...dialog} /> : null}
        {open?.what === "deliveries" ? (
          <Deliveries webhook={open.webhook} isOwner={isOwner} onClose={dialog.onClose} />
        ) : null}
      </Page>
    );
  }),
);

function useWebhooks() {
  const page = pageOf(useLocation().query.page);
  return { page, answer: useApi("GET /webhooks", { query: { page: String(page), page_size: String(PAGE_SIZE) } }) };
}

/** Comes with the list, whose place says if there is no answer. */
function StreamState() {
  const { data } = useWebhooks().answer;
  return data === undefined ? null : <Stream stream={data.stream} />;
}

interface ListProps {
  readonly isOwner: boolean;
  readonly onOpen: (open: Open) => void;
  readonly onTold: (sentence: string, kind: "good" | "warn") => void;
}

function WebhookList({ isOwner, onOpen, onTold }: ListProps) {
  const { page, answer } = useWebhooks();
  const columns = [...SHOWN, actions({ isOwner, onOpen, onTold })];
  return (
    <Loaded query={answer}>
      {({ total, items }) => (
        <PagedTable
          caption={texts.caption}
          {...{ columns, items, page, total }}
          pageSize={PAGE_SIZE}
          href={(to) => `${PAGES.webhooks}${searchOf({ page: to === 1 ? undefined : to })}`}
          empty={total === 0 ? texts.empty : texts.pastEnd}
        />
      )}
    </Loaded>
  );
}

const { columns: names } = texts;

const SHOWN: readonly Column<Webhook>[] = [
  {
    name: names.url,
    isHeader: true,
    cell: ({ url, actions: told, made_by: maker, maker_removed: isRemoved }) => (
      <div>
        <Typed text={url} />
        <p class="hint">
          {texts.told(told.length)}
          {maker === "" ? null : `, ${texts.madeBy(isolated(maker), isRemoved)}`}
        </p>
      </div>
    ),
  },
  { name: names.status, isEvident: true, cell: (webhook) => <State webhook={webhook} /> },
];

function State({ webhook }: { readonly webhook: Webhook }) {
  const { status, failing_since: since, last_error: error, lag, last_delivered_at: at } = webhook;
  const shown = status === "active" && since !== null ? "away" : status;
  return (
    <div class="event receiver">
      <span class={`status ${STYLES[shown]}`}>{texts.status[shown]}</span>
      {since === null ? null : (
        <span class="hint">
          {texts.failing} <Time at={since} />: <Typed text={error} />
        </span>
      )}
      <span class="hint">
        {texts.lag(lag)} {texts.delivered} {at === null ? texts.never : <Time at={at} />}.
      </span>
    </div>
  );
}

/** The colours and signs that other states have. */
const STYLES = { active: "active", away: "expired", disabled: "disabled" } as const;

function actions({ isOwner, onOpen, onTold }: ListProps): Column<Webhook> {
  return {
    name: names.act,
    isEvident: true,
    cell: (webhook) => (
      <span class="actions">
        <Button
          aria-label={texts.deliveries.openOf(webhook.url)}
          onClick={() => onOpen({ what: "deliveries", webhook })}
        >
          {texts.deliveries.open}
        </Button>
        {isOwner ? (
          <>
            <Ping webhook={webhook} onTold={onTold} />
            <Button aria-label={texts.change.openOf(webhook.url)} onClick={() => onOpen({ what: "change", webhook })}>
              {texts.change.open}
            </Button>
            <Button
              kind="danger"
              aria-label={texts.remove.openOf(webhook.url)}
              onClick={() => onOpen({ what: "delete", webhook })}
            >
              {texts.remove.open}
            </Button>
          </>
        ) : null}
      </span>
    ),
  };
}
