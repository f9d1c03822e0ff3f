/** The user's request for more time that waits for a decision: the end now, and the end that approving it would give. */

import { PAGES } from "../../../../shared/product/pages.ts";
import { maySee } from "../../../roles.ts";
import { requestTexts as texts } from "../../../texts/admin/diagnosis.ts";
import { endDay } from "../../../ui/clock.ts";
import { Notice } from "../../../ui/notice.tsx";
import { Time } from "../../../ui/time.tsx";
import { Typed } from "../../../ui/typed.tsx";
import { useApi } from "../../../use-api.tsx";
import { type Application, approvedEnd } from "../applications/application.ts";
import { useRole } from "../for-role.tsx";
import type { UserRecord } from "./record.ts";

/** Nothing for roles that see no requests. */
export function PendingRequest({ user }: { readonly user: UserRecord }) {
  return maySee(useRole(), "applications") ? <Pending user={user} /> : null;
}

function Pending({ user }: { readonly user: UserRecord }) {
  const query = { status: "pending", kind: "extension", user_id: String(user.id) } as const;
  const [request] = useApi("GET /approvals", { query }).data?.items ?? [];
  return request === undefined ? null : <Asked user={user} request={request} />;
}

function Asked({ user, request }: { readonly user: UserRecord; readonly request: Application }) {
  return (
    <Notice kind="info" title={texts.title(user.username, request.days ?? 0)}>
      <p>
        <Typed text={request.purpose} />
      </p>
      <p>{texts.ends(endDay(user.expire_at), endDay(approvedEnd(request, user.expire_at)))}</p>
      <p class="quiet">
        {texts.asked} <Time at={request.created_at} both />
      </p>
      <a href={PAGES.applications}>{texts.decide}</a>
    </Notice>
  );
}
