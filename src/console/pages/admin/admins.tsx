/** Administrators: who there is, and for owners: invite, change, end sessions, remove. */

import { useLocation } from "preact-iso";
import { PAGES } from "../../../shared/product/pages.ts";
import { ADMIN_ROLES } from "../../../shared/product/statuses.ts";
import { searchOf } from "../../api.ts";
import { mayChange } from "../../roles.ts";
import { useSession } from "../../session.tsx";
import { signedIn } from "../../signed-in.tsx";
import { adminsTexts as texts } from "../../texts/admin/admins.ts";
import { roleTexts } from "../../texts/admin/roles.ts";
import { common } from "../../texts/common.ts";
import { Button } from "../../ui/button.tsx";
import { Copyable } from "../../ui/copy.tsx";
import { Page, Section } from "../../ui/page.tsx";
import { pageOf } from "../../ui/page-number.ts";
import { type Column, PagedTable } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { useDialog } from "../../ui/use-dialog.ts";
import { Loaded, useApi } from "../../use-api.tsx";
import { useWanted } from "../../use-wanted.ts";
import { type Admin, ChangeAdmin } from "./admins/change-admin.tsx";
import { EndSessions } from "./admins/end-sessions.tsx";
import { InviteAdmin } from "./admins/invite-admin.tsx";
import { RemoveAdmin } from "./admins/remove-admin.tsx";
import { RemovedAdmins } from "./admins/removed.tsx";
import { Address } from "./cut.tsx";
import { Done, useDone } from "./done.tsx";
import { forRole, ReadOnly, useRole } from "./for-role.tsx";

const PAGE_SIZE = 50;

type Open =
  | { readonly what: "invite" }
  | { readonly what: "change" | "end sessions" | "remove"; readonly admin: Admin };

export const Admins = signedIn(
  "admin",
  forRole("admins", () => {
    const isOwner = mayChange(useRole(), "admins");
    const done = useDone();
    const { open, start: show, props: dialog } = useDialog<Open>(done.tell);
    const start = (next: Open) => {
      done.clear();
      show(next);
    };
    useWanted("invite", () => (isOwner ? start({ what: "invite" }) : undefined));
    return (
      <Page
        title={texts.title}
        actions={
          isOwner ? (
            <Button kind="primary" onClick={() => start({ what: "invite" })}>
              {texts.invite.open}
            </Button>
          ) : undefined
        }
      >
        <p class="lead">{texts.lead}</p>
        <ReadOnly area="admins" />
        <Done what={done.what} />
        <AdminList onOpen={isOwner ? start : undefined} />
        {isOwner ? <RemovedAdmins onDone={done.tell} /> : null}
        <Section title={texts.rolesTitle}>
          <dl class="facts">
            {ADMIN_ROLES.map((name) => (
              <RoleRow key={name} name={roleTexts.names[name]} text={texts.explained[name]} />
            ))}
          </dl>
          <p>{texts.shell}</p>
          <Copyable text="uam admin add NAME --email ADDRESS --role owner" label={texts.shellLabel} />
        </Section>
        {open?.what === "invite" ? <InviteAdmin {...dialog} /> : null}
        {open?.what === "change" ? <ChangeAdmin {...dialog} admin={open.admin} /> : null}
        {open?.what === "end sessions" ? <EndSessions {...dialog} admin={open.admin} /> : null}
        {open?.what === "remove" ? <RemoveAdmin {...dialog} admin={open.admin} /> : null}
      </Page>
    );
  }),
);

function RoleRow({ name, text }: { readonly name: string; readonly text: string }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{text}</dd>
    </>
  );
}

/** The list; with `onOpen`, what can be done with each. */
function AdminList({ onOpen }: { readonly onOpen: ((open: Open) => void) | undefined }) {
  const { query } = useLocation();
  const page = pageOf(query.page);
  const { state } = useSession();
  const own = state.kind === "open" ? state.principal.id : 0;
  const answer = useApi("GET /admins", { query: { page: String(page), page_size: String(PAGE_SIZE) } });
  const columns = columnsFor(own, onOpen);
  return (
    <Loaded query={answer}>
      {({ total, items }) => (
        <PagedTable
          caption={texts.caption}
          {...{ columns, items, page, total }}
          pageSize={PAGE_SIZE}
          href={(to) => `${PAGES.admins}${searchOf({ page: to === 1 ? undefined : to })}`}
          empty={texts.empty}
        />
      )}
    </Loaded>
  );
}

/** What they log in with besides the password; nothing yet of who is invited. */
function Factor({ admin: { status, passkeys, totp, factor_missing: isMissing } }: { readonly admin: Admin }) {
  const { factors } = texts;
  if (status === "invited") return common.dash;
  const has = passkeys > 0 ? (totp ? factors.both : factors.passkey) : totp ? factors.app : factors.none;
  return isMissing ? <strong>{texts.factorMissing(has)}</strong> : <span class="whole">{has}</span>;
}

function columnsFor(own: number, onOpen: ((open: Open) => void) | undefined): readonly Column<Admin>[] {
  const { columns } = texts;
  const shown: readonly Column<Admin>[] = [
    {
      name: columns.name,
      isHeader: true,
      cell: ({ id, username }) => (
        <span>
          <bdi>{username}</bdi> {id === own ? <span class="status">{texts.you}</span> : null}
        </span>
      ),
    },
    { name: columns.role, isEvident: true, cell: ({ role }) => <span class="whole">{roleTexts.names[role]}</span> },
    {
      name: columns.status,
      isEvident: true,
      cell: ({ status, sso }) => (
        <div class="event words">
          <span class={`status ${status === "active" ? "active" : "pending"}`}>{texts.status[status]}</span>
          {status === "invited" ? <span class="hint">{texts.invitedHint}</span> : null}
          {sso ? <span class="hint">{texts.ssoHint}</span> : null}
        </div>
      ),
    },
    { name: columns.email, isEvident: true, cell: ({ email }) => <Address text={email} /> },
    { name: columns.factor, cell: (admin) => <Factor admin={admin} /> },
    { name: columns.login, cell: ({ last_login_at: at }) => (at === null ? texts.never : <Time at={at} />) },
  ];
  if (onOpen === undefined) return shown;
  const act = (admin: Admin) => (
    <span class="actions three">
      <Button aria-label={texts.change.openOf(admin.username)} onClick={() => onOpen({ what: "change", admin })}>
        {texts.change.open}
      </Button>
      <Button
        aria-label={texts.endSessions.openOf(admin.username)}
        onClick={() => onOpen({ what: "end sessions", admin })}
      >
        {texts.endSessions.open}
      </Button>
      <Button
        kind="danger"
        aria-label={texts.remove.openOf(admin.username)}
        onClick={() => onOpen({ what: "remove", admin })}
      >
        {texts.remove.open}
      </Button>
    </span>
  );
  return [...shown, { name: columns.act, isEvident: true, cell: act }];
}
