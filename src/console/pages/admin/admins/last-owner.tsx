/** A refusal to change or remove an administrator: that of the last owner is explained. */

import { ApiFailure } from "../../../api.ts";
import { adminsTexts } from "../../../texts/admin/admins.ts";
import { Failure, Notice } from "../../../ui/notice.tsx";

/** Why it failed. */
export function AdminFailure({ failure }: { readonly failure: unknown }) {
  const { lastOwner } = adminsTexts;
  if (!(failure instanceof ApiFailure && failure.reason === "admin.last_owner")) return <Failure failure={failure} />;
  return (
    <Notice kind="bad" title={lastOwner.title}>
      <p>{lastOwner.text}</p>
    </Notice>
  );
}
