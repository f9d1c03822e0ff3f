/** What is stored, held against what the hosts are and what was told. */

import type { Agent } from "./agents.ts";
import type { Changes, Told } from "./changes.ts";

/** Runs SQL on the primary. */
export type Ask = <Row>(statement: string) => Promise<readonly Row[]>;

/** Where hosts differ from what is stored; none if they are as they should be. */
export async function differences(
  ask: Ask,
  agents: readonly Agent[],
  windows: Changes["windows"],
): Promise<readonly string[]> {
  const users = await ask<{ name: string; open: boolean; keys: string }>(`
    select 'ext_' || u.username as name, u.disabled_at is null and u.expire_at > now() as open,
      (select coalesce(string_agg(k.fingerprint, ' ' order by k.id), '') from ssh_keys k where k.user_id = u.id and k.status = 'active') as keys
    from users u order by 1`);
  const now = Date.now();
  const isInside = (name: string) => {
    const window = windows.get(name);
    return window === undefined || (window.from <= now && now < window.to);
  };
  const wanted = new Map(users.map(({ name, open, keys }) => [name, open && isInside(name) ? `open ${keys}` : "shut"]));
  return agents.flatMap((agent) => {
    const accounts = agent.accounts();
    const names = new Set([...wanted.keys(), ...Object.keys(accounts)]);
    return [...names].flatMap((name) => {
      const found = accounts[name];
      const is = found === undefined ? "missing" : found.open ? `open ${found.file.join(" ")}` : "shut";
      const should = wanted.get(name) ?? "missing";
      // Who was shut before an agent heard of them needs no account.
      return is === should || (should === "shut" && is === "missing")
        ? []
        : [`${agent.name}: ${name} is ${is}, not ${should}`];
    });
  });
}

/** What was told and is not recorded. */
export async function unrecorded(ask: Ask, told: readonly Told[]): Promise<readonly string[]> {
  const rows = await ask<{ action: string; what: string }>(`
    select distinct action, coalesce((detail::jsonb)->>'fingerprint', (detail::jsonb)->>'username') as what from audit
    where result = 'success' and action in ('user.create', 'user.disable', 'user.delete', 'key.create', 'key.revoke')`);
  const recorded = new Set(rows.map(({ action, what }) => `${action} ${what}`));
  return told.map(({ did, what }) => `${did} ${what}`).filter((each) => !recorded.has(each));
}

/** Hosts whose agent had applied a record that the log does not have. */
export async function diverged(ask: Ask, cursors: ReadonlyMap<string, string>): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (const [name, cursor] of cursors) {
    const [id = "", seal = ""] = cursor.split(".");
    if (id === "") continue;
    const [row] = await ask<{ seal: string }>(`select encode(mac, 'hex') as seal from audit where id = ${Number(id)}`);
    if (row?.seal !== seal) found.add(name);
  }
  return found;
}

/** Hosts that the service takes for diverged. */
export async function noted(ask: Ask): Promise<ReadonlySet<string>> {
  const rows = await ask<{ name: string }>("select name from hosts where diverged_at is not null");
  return new Set(rows.map(({ name }) => name));
}

/** Hosts whose agents have not reported since they were told that the history is another one. */
export async function unheard(ask: Ask): Promise<readonly string[]> {
  const rows = await ask<{ name: string }>(`
    select name from hosts where diverged_at is not null
      and applied_id < (select max(id) from audit where action = 'fleet.diverged' and result = 'success')`);
  return rows.map(({ name }) => `${name} has not said what it has`);
}
