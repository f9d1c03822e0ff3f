/** The applications that wait for a decision. */

import { PAGES } from "../../../../shared/product/pages.ts";
import { type AnswerOf, searchOf } from "../../../api.ts";
import { mayChange } from "../../../roles.ts";
import { dashboardTexts } from "../../../texts/admin/dashboard.ts";
import { Section } from "../../../ui/page.tsx";
import { Time } from "../../../ui/time.tsx";
import { Loaded, useApi, WATCHED } from "../../../use-api.tsx";
import { useRole } from "../for-role.tsx";

const { decide: texts } = dashboardTexts;

const SHOWN = 5;

export function Decisions() {
  const answer = useApi("GET /approvals", { query: { status: "pending", page_size: String(SHOWN) } }, WATCHED);
  const mayDecide = mayChange(useRole(), "applications");
  return (
    <Section title={texts.title}>
      <Loaded query={answer}>
        {({ total, items }) =>
          total === 0 ? (
            <p class="quiet">{texts.none}</p>
          ) : (
            <>
              <p>
                {texts.some(total)}{" "}
                <a href={`${PAGES.applications}${searchOf({ status: "pending" })}`}>
                  {mayDecide ? texts.open : texts.look}
                </a>
              </p>
              <ul class="rows">
                {items.map((application) => (
                  <Row key={application.id} application={application} />
                ))}
              </ul>
            </>
          )
        }
      </Loaded>
    </Section>
  );
}

type Application = AnswerOf<"GET /approvals">["items"][number];

function Row({ application: { username, kind, days, created_at } }: { readonly application: Application }) {
  return (
    <li>
      <span>
        <strong>
          <bdi class="typed">{username}</bdi>
        </strong>{" "}
        {kind === "extension" ? texts.extension(days) : texts.access}
      </span>
      <span class="quiet">
        <Time at={created_at} />
      </span>
    </li>
  );
}
