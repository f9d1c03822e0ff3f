/** A fleet of which a test knows what was asked for and what each host lets in: what an answer says of hosts can be held against both. */

import { expect } from "bun:test";
import type { AccountState, HostState } from "../../src/protocol/fleet.ts";
import type { Random } from "../long/closings/random.ts";
import type { TestAgent } from "./agent.ts";
import type { Client, TestApp } from "./app.ts";

/** A host: what its accounts are, and what it was refused. */
export interface Host {
  readonly agent: TestAgent;
  readonly accounts: Map<string, AccountState>;
  readonly owed: Map<string, AccountState | undefined>;
}

/** What the service was asked for last. */
export interface Person {
  readonly name: string;
  readonly id: number;
  readonly client: Client;
  isOpen: boolean;
  hosts: readonly string[];
  groups: readonly string[];
  networks: readonly string[];
  profile: string | null;
  until: number;
  readonly keys: Map<string, { readonly id: number; networks: readonly string[] }>;
}

export interface World {
  readonly t: TestApp;
  readonly admin: Client;
  readonly random: Random;
  readonly hosts: readonly Host[];
  readonly people: Person[];
  readonly members: Map<string, Set<string>>;
  /** Each step in words: what a failure shows. */
  readonly done: string[];
  born: number;
}

/** Networks that both allow; none: from anywhere. */
export const common = (one: readonly string[], other: readonly string[]) =>
  one.length === 0 || other.length === 0 ? [...one, ...other] : one.filter((each) => other.includes(each));
const isWider = (after: readonly string[] | undefined, before: readonly string[]) =>
  before.length > 0 && (after === undefined || after.some((each) => !before.includes(each)));
export const isNarrower = (before: readonly string[], after: readonly string[]) =>
  after.length > 0 && (before.length === 0 || isWider(before, after));

export function hostsOf({ members }: World, { hosts, groups }: Person): ReadonlySet<string> {
  return new Set([...hosts, ...groups.flatMap((group) => [...(members.get(group) ?? [])])]);
}

/** What the host lets in that nobody may have any more. */
export function wrongOn(world: World, { agent, accounts }: Host, person: Person): string | undefined {
  const account = [...accounts.values()].find(({ name }) => name === `ext_${person.name}`);
  if (account?.open !== true) return undefined;
  const { isOpen, keys, profile, until, networks: own } = person;
  const faults = {
    "open although it is shut": !isOpen,
    "open on a host that was taken": !hostsOf(world, person).has(agent.name),
    "a revoked key": account.keys.some(({ fingerprint }) => !keys.has(fingerprint)),
    "a later end": new Date(account.expire_at).getTime() > until,
    "another profile": (account.profile ?? null) !== profile,
    "wider networks": account.keys.some(({ fingerprint, networks }) =>
      [own, keys.get(fingerprint)?.networks ?? []].some((most) => isWider(networks, most)),
    ),
  };
  const found = Object.entries(faults).flatMap(([fault, isSo]) => (isSo ? [fault] : []));
  return found.length === 0 ? undefined : `${agent.name} ${person.name}: ${found.join(", ")}`;
}

export interface Claim {
  readonly what: string;
  /** As the answer has it; absent where it speaks of no host. */
  readonly confirmation: { readonly pending: readonly string[] } | undefined;
}

export function holdToIt(world: World, person: Person, { what, confirmation }: Claim): void {
  const pending = confirmation?.pending ?? [];
  world.done.push(`${person.name} ${what}: ${confirmation === undefined ? "no hosts" : `[${pending}]`}`);
  const claimed = world.hosts.filter(({ agent }) => !pending.includes(agent.name));
  const wrong = claimed.flatMap((host) => wrongOn(world, host, person) ?? []);
  expect(wrong.length === 0 ? [] : [...world.done, ...wrong]).toEqual([]);
}

/** As an agent does it; what is refused of one account is owed. */
export function follow({ accounts, owed }: Host, state: HostState, refused = ""): void {
  const set = (ref: string, account: AccountState | undefined) => {
    owed.delete(ref);
    if (ref.startsWith(`${refused} `)) owed.set(ref, account);
    else if (account === undefined) accounts.delete(ref);
    else accounts.set(ref, account);
  };
  const refOf = ({ name, uid }: { readonly name: string; readonly uid: number }) => `${name} ${uid}`;
  const named = new Set(state.accounts.map(refOf));
  for (const account of state.accounts) set(refOf(account), account);
  for (const ref of state.removed) set(refOf(ref), undefined);
  if (!state.full) return;
  for (const [ref, account] of accounts) if (!named.has(ref)) set(ref, { ...account, open: false, keys: [] });
}

export function catchUp({ accounts, owed }: Host): void {
  for (const [ref, account] of owed) {
    if (account === undefined) accounts.delete(ref);
    else accounts.set(ref, account);
  }
  owed.clear();
}

export async function report({ agent, owed }: Host): Promise<void> {
  const names = [...owed.keys()].map((ref) => ref.split(" ")[0] ?? "");
  await agent.report({ problems: names.map((account) => ({ account, kind: "refused", text: "the disk is full" })) });
}
