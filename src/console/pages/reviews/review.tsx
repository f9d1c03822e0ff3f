/** One review: how it stands, and its users with the evidence; owners and operators answer. */

import { useLocation, useRoute } from "preact-iso";
import { reviewPage } from "../../../shared/product/pages.ts";
import { API_ROOT, searchOf } from "../../api.ts";
import { mayChange } from "../../roles.ts";
import { forgetAnswers, signedIn } from "../../signed-in.tsx";
import { reviewTexts as texts } from "../../texts/admin/reviews.ts";
import { Button } from "../../ui/button.tsx";
import { Select } from "../../ui/field.tsx";
import { Page } from "../../ui/page.tsx";
import { pageOf } from "../../ui/page-number.ts";
import { Pager } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { useDialog } from "../../ui/use-dialog.ts";
import { Loaded, useApi } from "../../use-api.tsx";
import { Done, useDone } from "../admin/done.tsx";
import { forRole, ReadOnly, useRole } from "../admin/for-role.tsx";
import { AnswerDialog } from "./answer.tsx";
import { CloseReview } from "./close-review.tsx";
import { Items } from "./items.tsx";
import type { Answering, Review as Record } from "./record.ts";
import { countsOf, ReviewStatus, scopeOf } from "./reviews.tsx";

const PAGE_SIZE = 25;

export const Review = signedIn("admin", forRole("reviews", ReviewPage));

/** Each review has a page of its own: nothing of the one before stays. */
function ReviewPage() {
  const id = Number(useRoute().params.id ?? 0);
  return <One key={id} id={id} />;
}

function One({ id }: { readonly id: number }) {
  const review = useApi("GET /reviews/:id", { params: { id } });
  const isAllowed = mayChange(useRole(), "reviews");
  const done = useDone();
  const { open, start, props } = useDialog<"close" | Answering>((sentence) => {
    done.tell(sentence);
    void forgetAnswers();
  });
  const { data } = review;
  return (
    <Page
      title={texts.one(id)}
      actions={
        data === undefined ? undefined : (
          <>
            <a class="button" href={`${API_ROOT}/reviews/${id}/report`} download data-native>
              {texts.report}
            </a>
            {isAllowed && data.status === "open" ? (
              <Button onClick={() => start("close")}>{texts.close.open}</Button>
            ) : null}
          </>
        )
      }
    >
      <ReadOnly area="reviews" />
      <Done what={done.what} />
      <Loaded query={review}>
        {(found) => (
          <div class="stack">
            <Facts review={found} />
            <List review={found} onAnswer={isAllowed && found.status === "open" ? start : undefined} />
          </div>
        )}
      </Loaded>
      {data === undefined || open === undefined ? null : open === "close" ? (
        <CloseReview review={data} {...props} />
      ) : (
        <AnswerDialog review={id} {...open} {...props} />
      )}
    </Page>
  );
}

function Facts({ review }: { readonly review: Record }) {
  const { columns, unanswered } = texts;
  return (
    <section class="card">
      <dl class="facts">
        <dt>{columns.scope}</dt>
        <dd>{scopeOf(review)}</dd>
        <dt>{columns.status}</dt>
        <dd>
          <ReviewStatus review={review} />
          {review.closed_at === null ? null : <Time at={review.closed_at} both />}
        </dd>
        <dt>{columns.due}</dt>
        <dd>
          <Time at={review.due_at} both />
        </dd>
        <dt>{unanswered.label}</dt>
        <dd>{unanswered.ways[review.unanswered_way]}</dd>
        <dt>{columns.answers}</dt>
        <dd>{countsOf(review)}</dd>
      </dl>
    </section>
  );
}

interface ListProps {
  readonly review: Record;
  /** Undefined where nobody can answer. */
  readonly onAnswer: ((answering: Answering) => void) | undefined;
}

/** Who is not answered for, or everybody. */
function List({ review: { id, status }, onAnswer }: ListProps) {
  const { query, route } = useLocation();
  const show = status === "closed" || query.show === "all" ? "all" : "open";
  const page = pageOf(query.page);
  const answered = show === "open" ? { answered: "false" as const } : {};
  const list = useApi("GET /reviews/:id/items", {
    params: { id },
    query: { ...answered, page: String(page), page_size: String(PAGE_SIZE) },
  });
  const addressOf = (view: object) => `${reviewPage(id)}${searchOf({ show: show === "all" ? show : "", ...view })}`;
  return (
    <>
      {status === "closed" ? null : (
        <Select
          label={texts.show}
          value={show}
          onValue={(value) => route(addressOf({ show: value === "all" ? value : "" }))}
          options={Object.entries(texts.shows)}
        />
      )}
      <Loaded query={list}>
        {({ items, total }) => (
          <>
            {total === 0 ? <p class="empty">{texts.nothing}</p> : null}
            <Items key={`${show} ${page}`} {...{ items, onAnswer }} />
            {total > PAGE_SIZE ? (
              <Pager {...{ page, total }} pageSize={PAGE_SIZE} href={(to) => addressOf({ page: to })} />
            ) : null}
          </>
        )}
      </Loaded>
    </>
  );
}
