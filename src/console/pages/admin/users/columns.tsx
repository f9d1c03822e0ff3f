/** The columns of the list of users. */

import { userPage } from "../../../../shared/product/pages.ts";
import type { AnswerOf } from "../../../api.ts";
import { userListTexts } from "../../../texts/admin/users.ts";
import { common } from "../../../texts/common.ts";
import { Status } from "../../../ui/status.tsx";
import type { Column } from "../../../ui/table.tsx";
import { Time } from "../../../ui/time.tsx";
import { Address, Cut } from "../cut.tsx";

export type ListedUser = AnswerOf<"GET /users">["items"][number];

export interface Choice {
  readonly has: (id: number) => boolean;
  readonly choose: (users: readonly ListedUser[], isOn: boolean) => void;
}

const { columns } = userListTexts;

/** The columns; with a choice, each row can be selected. */
export function columnsOf(choice: Choice | undefined): readonly Column<ListedUser>[] {
  return choice === undefined ? SHOWN : [boxesOf(choice), ...SHOWN];
}

function boxesOf({ has, choose }: Choice): Column<ListedUser> {
  return {
    name: columns.select,
    isEvident: true,
    cell: (user) => (
      <label class="check">
        <input
          type="checkbox"
          checked={has(user.id)}
          aria-label={columns.selectOne(user.username)}
          onInput={(event) => choose([user], event.currentTarget.checked)}
        />
      </label>
    ),
  };
}

const SHOWN: readonly Column<ListedUser>[] = [
  {
    name: columns.user,
    isHeader: true,
    cell: ({ id, username, full_name }) => (
      <>
        <a href={userPage(id)}>{username}</a>
        {full_name === "" ? null : <Cut text={full_name} />}
      </>
    ),
  },
  {
    name: columns.status,
    isEvident: true,
    cell: ({ status, access, welcome }) => (
      <>
        <Status value={status} />{" "}
        {access === "open" || access === "closed" ? null : <span class="hint">{columns.shut[access]}</span>}{" "}
        {welcome === "pending" ? <span class="hint">{columns.untold}</span> : null}
      </>
    ),
  },
  {
    name: columns.contact,
    isEvident: true,
    cell: ({ email, supervisor }) => (
      <>
        <Address text={email} />
        {supervisor === "" ? null : <Cut text={supervisor} name={columns.supervisor} />}
      </>
    ),
  },
  { name: columns.login, cell: ({ last_login_at: at }) => (at === null ? columns.never : <Time at={at} />) },
  {
    name: columns.keys,
    cell: ({ active_keys: keys, last_key_use_at: at }) => (
      <>
        {keys === 0 ? common.none : keys}{" "}
        {keys === 0 && at === null ? null : (
          <span class="hint">{at === null ? columns.notUsed : [columns.used, " ", <Time key="" at={at} />]}</span>
        )}
      </>
    ),
  },
  {
    name: columns.ends,
    cell: ({ status, expire_at }) => (
      <>
        {status === "disabled" ? <span class="hint">{columns.shutBefore}</span> : null} <Time at={expire_at} isEnd />
      </>
    ),
  },
];
