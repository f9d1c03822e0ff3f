/** Users whose access ends within the next 30 days. */

import type { UseQueryResult } from "@tanstack/preact-query";
import { PAGES, userPage } from "../../../../shared/product/pages.ts";
import { type AnswerOf, searchOf } from "../../../api.ts";
import { maySee } from "../../../roles.ts";
import { dashboardTexts } from "../../../texts/admin/dashboard.ts";
import { day } from "../../../ui/clock.ts";
import { Section } from "../../../ui/page.tsx";
import { Time } from "../../../ui/time.tsx";
import { Loaded } from "../../../use-api.tsx";
import { useRole } from "../for-role.tsx";

const { ends: texts } = dashboardTexts;

/** More are in the list of users. */
const SHOWN = 8;

type Stats = AnswerOf<"GET /admin/stats">;

export function EndsSoon({ stats }: { readonly stats: UseQueryResult<Stats, Error> }) {
  const seesUsers = maySee(useRole(), "users");
  return (
    <Section title={texts.title}>
      <Loaded query={stats}>
        {({ expiring_soon: soon }) =>
          soon.length === 0 ? (
            <p class="quiet">{texts.none}</p>
          ) : (
            <>
              <p>
                {texts.some(soon.length)}{" "}
                {seesUsers ? (
                  <a href={`${PAGES.users}${searchOf({ status: "active", sort: "expire_at" })}`}>{texts.all}</a>
                ) : null}
              </p>
              <ul class="rows">
                {soon.slice(0, SHOWN).map(({ id, username, expire_at }) => (
                  <li key={id}>
                    {seesUsers ? <a href={userPage(id)}>{username}</a> : <span>{username}</span>}
                    <span>
                      <Time at={expire_at} /> <span class="quiet">({day(expire_at)})</span>
                    </span>
                  </li>
                ))}
              </ul>
            </>
          )
        }
      </Loaded>
    </Section>
  );
}
