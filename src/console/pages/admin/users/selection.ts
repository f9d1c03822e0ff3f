/** The users that are selected, on all pages of a list. */

import { useRef, useState } from "preact/hooks";
import { MAX_PAGE_SIZE } from "../../../../shared/product/page.ts";
import { api } from "../../../api.ts";
import type { ListedUser } from "./columns.tsx";
import { addressOfUsers, askOf, PAGE_SIZE, type UsersView } from "./view.ts";

/** As many are selected at once, at most: each is changed by a request of its own. */
export const MOST = 2000;

/** By id, each with the page that it was selected on. */
type Chosen = ReadonlyMap<number, { readonly user: ListedUser; readonly page: number }>;

const NONE: Chosen = new Map();

export interface Selection {
  readonly users: readonly ListedUser[];
  /** On how many pages of the list they are. */
  readonly pages: number;
  readonly has: (id: number) => boolean;
  /** Selects users of the page that is shown, or no longer. */
  readonly choose: (users: readonly ListedUser[], isOn: boolean) => void;
  /** Selects all that match, as they are now. */
  readonly chooseAll: () => Promise<void>;
  readonly clear: () => void;
}

/** The selection of one list. With another filter or order it begins anew: nobody changes users whom the list no longer has. */
export function useSelection(view: UsersView): Selection {
  const list = addressOfUsers({ ...view, page: 1 });
  const [kept, setKept] = useState({ list, chosen: NONE });
  const latest = useRef(list);
  latest.current = list;
  const chosen = kept.list === list ? kept.chosen : NONE;
  const keep = (chosen: Chosen) => setKept({ list, chosen });
  return {
    users: [...chosen.values()].map(({ user }) => user),
    pages: new Set([...chosen.values()].map(({ page }) => page)).size,
    has: (id) => chosen.has(id),
    choose: (users, isOn) => {
      const changed = new Map(chosen);
      for (const user of users) isOn ? changed.set(user.id, { user, page: view.page }) : changed.delete(user.id);
      keep(changed);
    },
    chooseAll: async () => {
      const all = new Map<number, { user: ListedUser; page: number }>();
      for (let page = 1; ; page++) {
        const { items, total } = await api("GET /users", { query: askOf({ ...view, page }, MAX_PAGE_SIZE) });
        // Another filter makes another list.
        if (latest.current !== list) return;
        for (const user of items) all.set(user.id, { user, page: Math.floor(all.size / PAGE_SIZE) + 1 });
        if (items.length === 0 || page * MAX_PAGE_SIZE >= Math.min(total, MOST)) break;
      }
      keep(all);
    },
    clear: () => keep(NONE),
  };
}
