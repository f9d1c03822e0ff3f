/** All reviews, the newest first; and for owners and operators, beginning one. */

import { useLocation } from "preact-iso";
import { PAGES, reviewPage } from "../../../shared/product/pages.ts";
import { searchOf } from "../../api.ts";
import { mayChange } from "../../roles.ts";
import { forgetAnswers, signedIn } from "../../signed-in.tsx";
import { reviewTexts as texts } from "../../texts/admin/reviews.ts";
import { Button } from "../../ui/button.tsx";
import { isolated } from "../../ui/isolated.ts";
import { Page } from "../../ui/page.tsx";
import { pageOf } from "../../ui/page-number.ts";
import { type Column, PagedTable } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { useDialog } from "../../ui/use-dialog.ts";
import { Loaded, useApi } from "../../use-api.tsx";
import { Done, useDone } from "../admin/done.tsx";
import { forRole, ReadOnly, useRole } from "../admin/for-role.tsx";
import { BeginReview } from "./begin.tsx";
import { NextReview } from "./next.tsx";
import type { Review } from "./record.ts";

const PAGE_SIZE = 25;

export const Reviews = signedIn("admin", forRole("reviews", ReviewsPage));

function ReviewsPage() {
  const page = pageOf(useLocation().query.page);
  const ask = { page_size: String(PAGE_SIZE) };
  const answer = useApi("GET /reviews", { query: { ...ask, page: String(page) } });
  const newest = useApi("GET /reviews", { query: { ...ask, page: "1" } });
  const done = useDone();
  const { open, start, props } = useDialog<true>((sentence) => {
    done.tell(sentence);
    void forgetAnswers();
  });
  return (
    <Page
      title={texts.title}
      actions={
        <>
          <a class="button" href={PAGES.sponsors}>
            {texts.sponsors}
          </a>
          {mayChange(useRole(), "reviews") ? (
            <Button kind="primary" onClick={() => start(true)}>
              {texts.begin.open}
            </Button>
          ) : null}
        </>
      }
    >
      <p class="lead">{texts.lead}</p>
      <ReadOnly area="reviews" />
      {newest.data === undefined ? null : <NextReview newest={newest.data.items} />}
      <Done what={done.what} />
      <Loaded query={answer}>
        {({ items, total }) => (
          <PagedTable
            caption={texts.title}
            {...{ columns: COLUMNS, items, page, total }}
            pageSize={PAGE_SIZE}
            href={(to) => `${PAGES.reviews}${searchOf({ page: to })}`}
            empty={texts.empty}
          />
        )}
      </Loaded>
      {open ? <BeginReview {...props} /> : null}
    </Page>
  );
}

const COLUMNS: readonly Column<Review>[] = [
  {
    name: texts.columns.scope,
    isHeader: true,
    cell: (review) => (
      <a href={reviewPage(review.id)}>
        {texts.one(review.id)}: {scopeOf(review)}
      </a>
    ),
  },
  { name: texts.columns.status, isEvident: true, cell: (review) => <ReviewStatus review={review} /> },
  { name: texts.columns.due, cell: ({ due_at: at }) => <Time at={at} both /> },
  { name: texts.columns.answers, cell: (review) => countsOf(review) },
];

export function ReviewStatus({ review: { status } }: { readonly review: Review }) {
  return <span class={`status ${status === "open" ? "pending" : "active"}`}>{texts.status[status]}</span>;
}

/** Whom it is about. */
export function scopeOf({ scope, scope_name: name }: Review): string {
  return texts.scope(typeof scope === "string" ? scope : (Object.keys(scope)[0] ?? ""), isolated(name));
}

export function countsOf({ unanswered, kept, ended, shortened }: Review): string {
  return texts.counts(unanswered, kept, ended, shortened);
}
