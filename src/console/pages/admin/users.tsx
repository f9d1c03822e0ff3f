/** All external users: found, filtered, sorted, and many changed at once. */

import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { PAGES } from "../../../shared/product/pages.ts";
import { OddFilters } from "../../odd-notice.tsx";
import { mayChange } from "../../roles.ts";
import { signedIn } from "../../signed-in.tsx";
import { importTexts } from "../../texts/admin/import.ts";
import { userTexts } from "../../texts/admin/user.ts";
import { userListTexts } from "../../texts/admin/users.ts";
import { companyTexts } from "../../texts/companies/companies.ts";
import { Button } from "../../ui/button.tsx";
import { Page } from "../../ui/page.tsx";
import { Pager, Table } from "../../ui/table.tsx";
import { Loaded, useApi } from "../../use-api.tsx";
import { useWanted } from "../../use-wanted.ts";
import { Export } from "./audit/export.tsx";
import { Done, useDone } from "./done.tsx";
import { forRole, ReadOnly, useRole } from "./for-role.tsx";
import { ListHead } from "./list-head.tsx";
import { type Bulk, undoing } from "./users/bulk.ts";
import { BulkBar } from "./users/bulk-bar.tsx";
import { BulkDialog } from "./users/bulk-dialog.tsx";
import { columnsOf, type ListedUser } from "./users/columns.tsx";
import { CreateDialog } from "./users/create.tsx";
import { Filters } from "./users/filters.tsx";
import { type Selection, useSelection } from "./users/selection.ts";
import { addressOfUsers, askOf, FILTERS, isEverybody, PAGE_SIZE, readUsersView, type UsersView } from "./users/view.ts";

export const Users = signedIn("admin", forRole("users", UsersPage));

function UsersPage() {
  const { query } = useLocation();
  const view = readUsersView(query);
  const isAllowed = mayChange(useRole(), "users");
  const asked = askOf(view);
  const { page: _page, page_size: _size, ...filters } = asked ?? {};
  const users = useApi("GET /users", { query: asked });
  const [isCreating, setCreating] = useState(false);
  useWanted("create", () => setCreating(isAllowed));
  // Here, where they outlast a page that cannot be loaded.
  const [bulk, setBulk] = useState<Bulk>();
  const selection = useSelection(view);
  const done = useDone();
  return (
    <Page
      title={userListTexts.title}
      actions={
        <>
          <a class="button" href={PAGES.companies}>
            {companyTexts.title}
          </a>
          {isAllowed ? (
            <>
              <a class="button" href={PAGES.userImport}>
                {importTexts.open}
              </a>
              <Button kind="primary" onClick={() => setCreating(true)}>
                {userListTexts.create.open}
              </Button>
            </>
          ) : null}
        </>
      }
    >
      <ReadOnly area="users" />
      <Done what={done.what} />
      <OddFilters path={PAGES.users} query={query} filters={FILTERS} />
      <Filters view={view} />
      <Loaded query={users}>
        {({ items, total }) => <List {...{ view, items, total, selection, isAllowed }} onBulk={setBulk} />}
      </Loaded>
      <Export route="GET /users/export" query={filters} isWhole={isEverybody(view)} />
      {isCreating ? (
        <CreateDialog
          onClose={() => setCreating(false)}
          onDone={(content) => {
            setCreating(false);
            done.show(content);
          }}
        />
      ) : null}
      {bulk === undefined ? null : (
        <BulkDialog
          // The undo of a run is a run of its own.
          key={bulk}
          bulk={bulk}
          onUndo={setBulk}
          onClose={(sentence, ways = []) => {
            setBulk(undefined);
            if (sentence === undefined) return;
            selection.clear();
            const undo = <Button onClick={() => setBulk(undoing(ways))}>{userTexts.undo.submit}</Button>;
            done.tell(sentence, ways.length === 0 ? null : <p class="actions">{undo}</p>);
          }}
        />
      )}
    </Page>
  );
}

interface ListProps {
  readonly view: UsersView;
  readonly items: readonly ListedUser[];
  readonly total: number;
  readonly selection: Selection;
  readonly isAllowed: boolean;
  readonly onBulk: (bulk: Bulk) => void;
}

function List({ view, items, total, selection, isAllowed, onBulk }: ListProps) {
  return (
    <div class="stack">
      <ListHead>
        <p role="status">{userListTexts.found(total, isEverybody(view))}</p>
      </ListHead>
      {isAllowed && items.length + selection.users.length > 0 ? (
        <BulkBar {...{ selection, items, total }} onBulk={(kind, users) => onBulk({ kind, users })} />
      ) : null}
      {items.length === 0 ? (
        total === 0 ? (
          <Empty view={view} />
        ) : null
      ) : (
        <div class="table users">
          <Table caption={userListTexts.title} columns={columnsOf(isAllowed ? selection : undefined)} items={items} />
        </div>
      )}
      <Pager {...{ page: view.page, pageSize: PAGE_SIZE, total }} href={(page) => addressOfUsers({ ...view, page })} />
    </div>
  );
}

function Empty({ view }: { readonly view: UsersView }) {
  const { empty } = userListTexts;
  return (
    <div class="card empty">
      <p>{isEverybody(view) ? empty.nobody : empty.filtered}</p>
      {isEverybody(view) ? (
        <a href={PAGES.applications}>{empty.applications}</a>
      ) : (
        <a href={PAGES.users}>{empty.everybody}</a>
      )}
    </div>
  );
}
