/**
 * What decides whether somebody gets in, as registers that deeds write: of a user whether they are there and enabled, from when
 * to when, in which hours and on which hosts; of a key whether it is theirs; of a host whether it is locked.
 */

import type { Span } from "../format.ts";
import type { Done, History } from "./history.ts";

/** One deed's writing to one register: when the register lets somebody in by it, on each host or on those named. */
export interface Write {
  readonly deed: Done;
  readonly open: readonly Span[];
  readonly hosts: readonly string[] | undefined;
}

/** The writes of each register, in the order of their invocations; those that failed are left out. */
export type Registers = ReadonlyMap<string, readonly Write[]>;

export const ALWAYS: readonly Span[] = [[Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]];
const NEVER: readonly Span[] = [];

/** The names of the registers that all have to let this key in. */
export function namesOf(user: string, key: string, host: string): readonly string[] {
  return [
    `life of ${user}`,
    `term of ${user}`,
    `hours of ${user}`,
    `hosts of ${user}`,
    keyName(user, key),
    `lock of ${host}`,
  ];
}

export function readRegisters({ start, deeds }: History): Registers {
  const registers = new Map<string, Write[]>();
  const write = (deed: Done, name: string, open: readonly Span[], hosts?: readonly string[]) => {
    const writes = registers.get(name) ?? [];
    registers.set(name, writes);
    writes.push({ deed, open, hosts });
  };
  for (const host of start.hosts) write(beginning(host), `lock of ${host}`, ALWAYS);
  const keys = keysOf(deeds);
  for (const deed of deeds) if (deed.outcome !== "fail") written(deed, keys, write);
  return registers;
}

function written(deed: Done, keys: ReadonlyMap<string, ReadonlySet<string>>, write: Writer): void {
  switch (deed.do) {
    case "create":
      write(deed, `life of ${deed.user}`, ALWAYS);
      write(deed, `term of ${deed.user}`, [[deed.from, deed.to]]);
      write(deed, `hours of ${deed.user}`, ALWAYS);
      write(deed, `hosts of ${deed.user}`, ALWAYS, deed.hosts);
      break;
    case "enable":
    case "disable":
      write(deed, `life of ${deed.user}`, deed.do === "enable" ? ALWAYS : NEVER);
      break;
    case "delete":
      write(deed, `life of ${deed.user}`, NEVER);
      // Whoever has the name next has none of these keys.
      for (const key of keys.get(deed.user) ?? []) write(deed, keyName(deed.user, key), NEVER);
      break;
    case "term":
      write(deed, `term of ${deed.user}`, [[deed.from, deed.to]]);
      break;
    case "hours":
      write(deed, `hours of ${deed.user}`, deed.windows ?? ALWAYS);
      break;
    case "hosts":
      write(deed, `hosts of ${deed.user}`, ALWAYS, deed.hosts);
      break;
    case "upload":
    case "revoke":
      write(deed, keyName(deed.user, deed.key), deed.do === "upload" ? ALWAYS : NEVER);
      break;
    case "lock":
    case "unlock":
      write(deed, `lock of ${deed.host}`, deed.do === "unlock" ? ALWAYS : NEVER);
      break;
  }
}

type Writer = (deed: Done, name: string, open: readonly Span[], hosts?: readonly string[]) => void;

function keysOf(deeds: readonly Done[]): ReadonlyMap<string, ReadonlySet<string>> {
  const keys = new Map<string, Set<string>>();
  for (const deed of deeds) {
    if (deed.do === "upload") keys.set(deed.user, (keys.get(deed.user) ?? new Set()).add(deed.key));
  }
  return keys;
}

function keyName(user: string, key: string): string {
  return `key ${key} of ${user}`;
}

/** Hosts are open before anybody says so. */
function beginning(host: string): Done {
  const before = Number.NEGATIVE_INFINITY;
  const about = { n: 0, process: "", outcome: "ok", pending: undefined, by: null } as const;
  return { do: "unlock", host, ...about, invoked: before, ended: before };
}

/** When the register lets somebody in on that host, if one of these writes is the one that counts there. */
export function openBy(writes: readonly Write[], host: string): readonly Span[] {
  return writes.flatMap(({ open, hosts }) => (hosts === undefined || hosts.includes(host) ? open : []));
}

/** The moments that are in one of the spans on each side. */
export function common(one: readonly Span[], other: readonly Span[]): readonly Span[] {
  return one.flatMap(([from, to]) =>
    other.flatMap(([begin, end]): Span[] => {
      const both: Span = [Math.max(from, begin), Math.min(to, end)];
      return both[0] <= both[1] ? [both] : [];
    }),
  );
}
