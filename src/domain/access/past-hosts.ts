/** Hosts and their groups at a moment of the past, told from audit records alone. */

import type { AuditAction } from "../../shared/product/audit-actions.ts";
import { LOCAL_NAME } from "../../shared/text/host-name.ts";
import { LOCAL_HOST } from "../../store/schema.ts";
import { type Detail, namesIn, textOf } from "./record-detail.ts";

interface PastHost {
  name: string;
  /** Locked, or being retired. */
  isShut: boolean;
}

interface PastGroup {
  name: string;
  /** Within which every account on its hosts is open; empty for always. */
  hours: string;
  /** The profile of everybody who comes to its hosts by it; empty for none. */
  profile: string;
  readonly members: Set<number>;
}

/** The group that the first migration made; no record tells of it, nor of the service's own host. */
const FIRST_GROUP = 1;
const FIRST_GROUP_NAME = "default";

/** Follows what the log says of hosts and groups, the oldest record first. */
export class PastHosts {
  readonly #hosts = new Map<number, PastHost>([[LOCAL_HOST, { name: LOCAL_NAME, isShut: false }]]);
  readonly #groups = new Map<number, PastGroup>([
    [FIRST_GROUP, { name: FIRST_GROUP_NAME, hours: "", profile: "", members: new Set([LOCAL_HOST]) }],
  ]);
  #defaultGroup = FIRST_GROUP;

  /** The actions that it learns from. */
  static readonly ACTIONS: readonly AuditAction[] = [
    ...(["host.enrol", "host.update", "host.lock", "host.unlock", "host.retire", "host.forget"] as const),
    ...(["host_group.create", "host_group.update", "host_group.delete"] as const),
  ];

  /** The group that new users get. */
  get defaultGroup(): number {
    return this.#defaultGroup;
  }

  /** The ids of the hosts that have these names now. */
  hostsNamed(names: readonly string[]): ReadonlySet<number> {
    return idsOf(this.#hosts, names);
  }

  /** The ids of the groups that have these names now. */
  groupsNamed(names: readonly string[]): ReadonlySet<number> {
    return idsOf(this.#groups, names);
  }

  /** The names of the hosts that let anybody in, by their ids: those that are not shut, and whose groups' hours are all open. */
  open(isOpen: (hours: string) => boolean): ReadonlyMap<number, string> {
    const open = new Map([...this.#hosts].flatMap(([id, { name, isShut }]) => (isShut ? [] : [[id, name] as const])));
    for (const { hours, members } of this.#groups.values()) {
      if (!isOpen(hours)) for (const id of members) open.delete(id);
    }
    return open;
  }

  /** The ids of these hosts, and of the hosts in these groups. */
  reached(hosts: ReadonlySet<number>, groups: ReadonlySet<number>): ReadonlySet<number> {
    const ids = new Set(hosts);
    for (const group of groups) for (const id of this.#groups.get(group)?.members ?? []) ids.add(id);
    return ids;
  }

  /** The profiles of those of these groups by which somebody comes to the host, by the names of the groups. */
  profiles(host: number, groups: ReadonlySet<number>): readonly { readonly group: string; readonly profile: string }[] {
    const binding = [...groups].flatMap((id) => {
      const { name, profile = "", members } = this.#groups.get(id) ?? {};
      return name !== undefined && profile !== "" && members?.has(host) ? [{ group: name, profile }] : [];
    });
    return binding.sort((one, other) => (one.group < other.group ? -1 : 1));
  }

  /** Takes a record of success. */
  apply(action: string, id: number, detail: Detail): void {
    switch (action) {
      case "host.enrol":
        this.#hosts.set(id, { name: textOf(detail, "host"), isShut: false });
        for (const group of idsOf(this.#groups, namesIn(detail, "group"))) this.#groups.get(group)?.members.add(id);
        return;
      case "host.forget":
        this.#hosts.delete(id);
        for (const { members } of this.#groups.values()) members.delete(id);
        return;
      case "host_group.create":
        this.#groups.set(id, {
          name: textOf(detail, "name"),
          hours: textOf(detail, "hours"),
          profile: textOf(detail, "profile"),
          members: new Set(idsOf(this.#hosts, namesIn(detail, "hosts"))),
        });
        return;
      case "host_group.delete":
        this.#groups.delete(id);
        return;
      case "host_group.update":
        this.#updateGroup(id, detail);
        return;
      default:
        this.#updateHost(action, id, detail);
    }
  }

  #updateHost(action: string, id: number, detail: Detail): void {
    const host = this.#hosts.get(id);
    if (host === undefined) return;
    if (typeof detail.new_name === "string") host.name = detail.new_name;
    if (action === "host.lock" || action === "host.retire") host.isShut = true;
    if (action === "host.unlock") host.isShut = false;
  }

  #updateGroup(id: number, detail: Detail): void {
    const group = this.#groups.get(id);
    if (group === undefined) return;
    if (typeof detail.new_name === "string") group.name = detail.new_name;
    if (typeof detail.hours === "string") group.hours = detail.hours;
    if (typeof detail.profile === "string") group.profile = detail.profile;
    if (detail.for_new_users === true) this.#defaultGroup = id;
    for (const host of idsOf(this.#hosts, namesIn(detail, "added"))) group.members.add(host);
    for (const host of idsOf(this.#hosts, namesIn(detail, "removed"))) group.members.delete(host);
  }
}

/** The ids of what has these names now. */
function idsOf(named: ReadonlyMap<number, { readonly name: string }>, names: readonly string[]): ReadonlySet<number> {
  const wanted = new Set(names);
  return new Set([...named].flatMap(([id, { name }]) => (wanted.has(name) ? [id] : [])));
}
