/** The dashboard: what needs somebody now, what waits for a decision, what ends soon, and how it all goes. */

import { signedIn } from "../../signed-in.tsx";
import { dashboardTexts } from "../../texts/admin/dashboard.ts";
import { Notice } from "../../ui/notice.tsx";
import { Page } from "../../ui/page.tsx";
import { Loaded, useApi, WATCHED } from "../../use-api.tsx";
import { Ends } from "./dashboard/ends.tsx";
import { Figures } from "./dashboard/figures.tsx";
import { OLDEST, Requests } from "./dashboard/requests.tsx";
import { Reviews } from "./dashboard/reviews.tsx";
import { Wrong } from "./dashboard/wrong.tsx";

/** Parts with nothing in them take no room; if none has anything, a sentence says so. */
export const Dashboard = signedIn("admin", () => {
  const attention = useApi("GET /admin/attention", {}, WATCHED);
  const requests = useApi("GET /approvals", OLDEST, WATCHED);
  const stats = useApi("GET /admin/stats", {}, WATCHED);
  const isClear =
    attention.data?.problems === 0 &&
    !attention.data.mail_unsent &&
    attention.data.reviews.length === 0 &&
    requests.data?.total === 0 &&
    stats.data?.expiring_soon.length === 0;
  return (
    <Page title={dashboardTexts.title}>
      {isClear ? <p class="card clear">{dashboardTexts.clear}</p> : null}
      {attention.data?.mail_unsent ? (
        <Notice kind="warn" title={dashboardTexts.unsent.title}>
          <p>{dashboardTexts.unsent.text}</p>
        </Notice>
      ) : null}
      <Loaded query={attention}>
        {(found) =>
          found.reviews.length === 0 ? (
            <Wrong found={found} />
          ) : (
            <div class="stack">
              <Wrong found={found} />
              <Reviews reviews={found.reviews} />
            </div>
          )
        }
      </Loaded>
      <div class="work">
        <Loaded query={requests}>{(waiting) => <Requests waiting={waiting} />}</Loaded>
        <Loaded query={stats}>{({ expiring_soon: soon }) => <Ends soon={soon} />}</Loaded>
      </div>
      <Figures stats={stats} />
    </Page>
  );
});
