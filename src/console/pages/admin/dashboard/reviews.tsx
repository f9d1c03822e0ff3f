/** Reviews with users about whom only owners and operators are asked: what is left to answer, and how long. */

import { reviewPage } from "../../../../shared/product/pages.ts";
import type { AnswerOf } from "../../../api.ts";
import { maySee } from "../../../roles.ts";
import { reviewTexts } from "../../../texts/admin/reviews.ts";
import { Time } from "../../../ui/time.tsx";
import { useRole } from "../for-role.tsx";

const { waiting: texts, one } = reviewTexts;

export function Reviews({ reviews }: Pick<AnswerOf<"GET /admin/attention">, "reviews">) {
  if (!maySee(useRole(), "reviews") || reviews.length === 0) return null;
  return (
    <section class="card deciding" aria-labelledby="reviews">
      <h2 id="reviews">{texts.title}</h2>
      <ul>
        {reviews.map(({ id, waiting, due_at: due }) => (
          <li key={id}>
            <a href={reviewPage(id)}>{one(id)}</a>: {texts.some(waiting)}, <Time at={due} both />
          </li>
        ))}
      </ul>
    </section>
  );
}
