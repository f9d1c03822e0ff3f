/** Pages that not every administrator may see. */

import type { ComponentType } from "preact";
import type { AdminRole } from "../../../shared/product/statuses.ts";
import { type Area, mayChange, maySee, rolesThatSee } from "../../roles.ts";
import { useSession } from "../../session.tsx";
import { roleTexts } from "../../texts/admin/roles.ts";
import { Notice } from "../../ui/notice.tsx";
import { Page } from "../../ui/page.tsx";

/** The role of the session; the least one where there is none. */
export function useRole(): AdminRole {
  const { state } = useSession();
  return (state.kind === "open" ? state.principal.role : undefined) ?? "auditor";
}

/** The page, for the roles that may see it; the others are told which these are. */
export function forRole<P extends object>(area: Area, Content: ComponentType<P>): ComponentType<P> {
  return function ForRole(props: P) {
    const role = useRole();
    if (maySee(role, area)) return <Content {...props} />;
    return (
      <Page title={roleTexts.title}>
        <Notice kind="warn">
          <p>{roleTexts.needed(role, rolesThatSee(area))}</p>
        </Notice>
      </Page>
    );
  };
}

/** Why there is nothing to press, where the role may only look. */
export function ReadOnly({ area }: { readonly area: Area }) {
  const role = useRole();
  return mayChange(role, area) ? null : <p class="quiet">{roleTexts.readOnly(role)}</p>;
}
