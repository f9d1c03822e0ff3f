/** The newest of what the audit log has about a user, deleted or not. */

import { PAGES } from "../../../../shared/product/pages.ts";
import { searchOf } from "../../../api.ts";
import { userTexts } from "../../../texts/admin/user.ts";
import { Section } from "../../../ui/page.tsx";
import { Loaded, useApi } from "../../../use-api.tsx";
import { Records } from "../audit/records.tsx";

const NEWEST = 10;

export function Trail({ id }: { readonly id: number }) {
  const { trail } = userTexts;
  const answer = useApi("GET /audit", { query: { user_id: String(id), page_size: String(NEWEST) } });
  return (
    <Section title={trail.title}>
      <Loaded query={answer}>
        {({ total, items }) =>
          total === 0 ? (
            <p class="quiet">{trail.none}</p>
          ) : (
            <div class="stack">
              <Records items={items} />
              <p>
                <a href={`${PAGES.audit}${searchOf({ user_id: id })}`}>{trail.all(total)}</a>
              </p>
            </div>
          )
        }
      </Loaded>
    </Section>
  );
}
