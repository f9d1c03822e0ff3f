/**
 * Who could log in, told from audit records alone. Where a record leaves it open whether access was gone already, such as a closing that
 * the host had not finished, it counts as gone: its accounts are shut first, and finished later.
 */

import type { AuditAction } from "../../shared/product/audit-actions.ts";
import { LOCAL_NAME } from "../../shared/text/host-name.ts";
import { LOCAL_HOST } from "../../store/schema.ts";
import type { AuditRow } from "../../store/schema-audit.ts";

/** The columns of a record that a history is made of. */
export type HistoryRecord = Pick<AuditRow, "actor" | "action" | "resourceId" | "subjectId" | "result" | "detail">;

/** One account that could be logged in to. */
export interface Access {
  readonly username: string;
  /** The host's name at that moment. */
  readonly host: string;
  readonly until: Date;
  /** Of the keys that counted, oldest first; at least one. */
  readonly fingerprints: readonly string[];
  /** Who created, enabled or extended the user last. */
  readonly decidedBy: string;
}

/** Which of these accounts; all of them where nothing is given. */
export interface AccessFilter {
  /** Only the host that had this name then. */
  readonly host?: string | undefined;
  /** Only users of the company that had this name then. */
  readonly company?: string | undefined;
}

interface PastUser {
  readonly username: string;
  /** The name of the company that they come from; empty for none. Names are unique, and no record says more of a company. */
  company: string;
  until: number;
  isDisabled: boolean;
  decidedBy: string;
  /** Fingerprints by the ids of the keys. */
  readonly keys: Map<string, string>;
  hosts: ReadonlySet<number>;
  groups: ReadonlySet<number>;
}

interface PastHost {
  name: string;
  /** Locked, or being retired. */
  isShut: boolean;
}

interface PastGroup {
  name: string;
  readonly members: Set<number>;
}

/** The actions after which the user is gone. */
const REMOVALS: readonly string[] = ["user.delete", "user.give_back", "lifecycle.recycle"] satisfies AuditAction[];

/** The group that the first migration made; no record tells of it, nor of the service's own host. */
const FIRST_GROUP = 1;
const FIRST_GROUP_NAME = "default";

/** Follows the log record by record, the oldest first. */
export class History {
  readonly #users = new Map<number, PastUser>();
  readonly #hosts = new Map<number, PastHost>([[LOCAL_HOST, { name: LOCAL_NAME, isShut: false }]]);
  readonly #groups = new Map<number, PastGroup>([
    [FIRST_GROUP, { name: FIRST_GROUP_NAME, members: new Set([LOCAL_HOST]) }],
  ]);
  #defaultGroup = FIRST_GROUP;

  /** The actions that it learns from; other records change nothing. */
  static readonly ACTIONS: readonly AuditAction[] = [
    ...(["user.create", "user.adopt", "user.give_back", "user.enable", "user.extend", "user.shorten"] as const),
    ...(["user.disable", "user.lock", "user.delete", "user.grant", "user.update", "sponsor.end"] as const),
    ...([
      "company.update",
      "lifecycle.recycle",
      "reconcile.repair",
      "key.create",
      "key.confirm",
      "key.revoke",
    ] as const),
    ...(["host.enrol", "host.update", "host.lock", "host.unlock", "host.retire", "host.forget"] as const),
    ...(["host_group.create", "host_group.update", "host_group.delete"] as const),
  ];

  apply(record: HistoryRecord): void {
    const detail: Detail = JSON.parse(record.detail);
    const { action, result } = record;
    if (
      action === "sponsor.end" ||
      action.startsWith("user.") ||
      action.startsWith("lifecycle.") ||
      action === "reconcile.repair"
    ) {
      this.#applyToUser(record, detail);
    } else if (action.startsWith("key.")) this.#applyToKey(record, detail);
    else if (action === "company.update") this.#renameCompany(record, detail);
    else if (result === "success") this.#applyToHosts(record, detail);
  }

  /** Each account that could be logged in to at that moment, by username and host. */
  accessAt(at: Date, { host: wanted, company }: AccessFilter = {}): readonly Access[] {
    const found = [...this.#users.values()].flatMap((user) => {
      if (user.isDisabled || user.until <= at.getTime() || user.keys.size === 0) return [];
      if (company !== undefined && user.company !== company) return [];
      const { username, decidedBy } = user;
      const fingerprints = [...user.keys.values()];
      const hosts = this.#hostsOf(user).filter((host) => wanted === undefined || host === wanted);
      return hosts.map((host) => ({
        ...{ username, host, decidedBy, fingerprints },
        until: new Date(user.until),
      }));
    });
    return found.sort((one, other) => compare(one.username, other.username) || compare(one.host, other.host));
  }

  #hostsOf({ hosts, groups }: PastUser): readonly string[] {
    const ids = new Set(hosts);
    for (const group of groups) for (const id of this.#groups.get(group)?.members ?? []) ids.add(id);
    return [...ids].flatMap((id) => {
      const host = this.#hosts.get(id);
      return host === undefined || host.isShut ? [] : [host.name];
    });
  }

  #applyToUser({ action, actor, subjectId, result }: HistoryRecord, detail: Detail): void {
    if (subjectId === null) return;
    if (action === "user.create" || action === "user.adopt") {
      if (result === "success") this.#users.set(subjectId, this.#newUser(actor, detail, action));
      return;
    }
    if (REMOVALS.includes(action) && result === "success") {
      this.#users.delete(subjectId);
      return;
    }
    const user = this.#users.get(subjectId);
    if (user === undefined) return;
    if (isDisabling(action, detail)) user.isDisabled = true;
    // One that the host did not finish is stored, and says so.
    if (action === "user.update" && typeof detail.company === "string") user.company = detail.company;
    if (action === "user.shorten" && typeof detail.expire_at === "string") user.until = Date.parse(detail.expire_at);
    if (result !== "success") return;
    if (action === "user.enable") user.isDisabled = false;
    if (action === "user.extend") user.until = Date.parse(textOf(detail, "expire_at"));
    if (action === "user.enable" || action === "user.extend") user.decidedBy = actor;
    if (action === "user.grant") {
      user.hosts = idsOf(this.#hosts, namesIn(detail, "hosts"));
      user.groups = idsOf(this.#groups, namesIn(detail, "groups"));
    }
  }

  #renameCompany({ result }: HistoryRecord, detail: Detail): void {
    if (result !== "success" || typeof detail.new_name !== "string") return;
    for (const user of this.#users.values()) if (user.company === detail.name) user.company = detail.new_name;
  }

  /** An adopted account is on the service's own host alone, and a company may have groups of its own. */
  #newUser(actor: string, detail: Detail, action: "user.create" | "user.adopt"): PastUser {
    return {
      username: textOf(detail, "username"),
      company: textOf(detail, "company"),
      until: Date.parse(textOf(detail, "expire_at")),
      isDisabled: false,
      decidedBy: actor,
      keys: new Map(),
      hosts: new Set(action === "user.adopt" ? [LOCAL_HOST] : []),
      groups:
        action === "user.adopt" || detail.groups !== undefined
          ? idsOf(this.#groups, namesIn(detail, "groups"))
          : new Set([this.#defaultGroup]),
    };
  }

  #applyToKey({ action, resourceId, subjectId, result }: HistoryRecord, detail: Detail): void {
    const user = subjectId === null ? undefined : this.#users.get(subjectId);
    if (user === undefined) return;
    if ((action === "key.create" || action === "key.confirm") && result === "success")
      user.keys.set(resourceId, textOf(detail, "fingerprint"));
    // A revocation that failed says whether the key is stored as revoked.
    if (action === "key.revoke" && (result === "success" || detail.status === "revoked")) {
      user.keys.delete(resourceId);
    }
  }

  #applyToHosts({ action, resourceId }: HistoryRecord, detail: Detail): void {
    const id = Number(resourceId);
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
    if (detail.for_new_users === true) this.#defaultGroup = id;
    for (const host of idsOf(this.#hosts, namesIn(detail, "added"))) group.members.add(host);
    for (const host of idsOf(this.#hosts, namesIn(detail, "removed"))) group.members.delete(host);
  }
}

type DetailName =
  | ("username" | "expire_at" | "status" | "fingerprint")
  | "company"
  | ("hosts" | "groups" | "host" | "group" | "name" | "new_name" | "added" | "removed" | "for_new_users");

/** The detail of a record, as far as a history looks into it. */
type Detail = Readonly<Partial<Record<DetailName, unknown>>>;

/**
 * Whether the record says that the user is disabled. One of a closing that failed on the host says so, too, if it is stored. Expired users
 * who are disabled stay expired, and come back as disabled.
 */
function isDisabling(action: string, { status }: Detail): boolean {
  if (action === "user.disable" || action === "user.lock" || action === "sponsor.end") return status !== undefined;
  return action !== "user.enable" && status === "disabled";
}

function textOf(detail: Detail, name: DetailName): string {
  const value = detail[name];
  return typeof value === "string" ? value : "";
}

/** Names of hosts or groups, which have no commas. */
function namesIn(detail: Detail, name: DetailName): readonly string[] {
  return textOf(detail, name).split(", ").filter(Boolean);
}

/** The ids of what has these names now. */
function idsOf(named: ReadonlyMap<number, { readonly name: string }>, names: readonly string[]): ReadonlySet<number> {
  const wanted = new Set(names);
  return new Set([...named].flatMap(([id, { name }]) => (wanted.has(name) ? [id] : [])));
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
