/**
 * Who could log in, told from audit records alone. Where a record leaves it open whether access was gone already, such as a closing that
 * the host had not finished, it counts as gone: its accounts are shut first, and finished later.
 */

import { type Allowed, allowedFurther, allowedOn } from "../../shared/hours/allowed.ts";
import type { AuditAction } from "../../shared/product/audit-actions.ts";
import { shift } from "../../shared/time/clock.ts";
import { LOCAL_HOST } from "../../store/schema.ts";
import type { AuditRow } from "../../store/schema-audit.ts";
import { spansOf } from "../hosts/group-hours.ts";
import { PastHosts } from "./past-hosts.ts";
import { PastProfiles } from "./past-profiles.ts";
import { type Detail, namesIn, textOf } from "./record-detail.ts";

/** The columns of a record that a history is made of. */
export type HistoryRecord = Pick<AuditRow, "actor" | "action" | "resourceId" | "subjectId" | "result" | "detail">;

/** One account that could be logged in to. */
export interface Access {
  readonly userId: number;
  readonly username: string;
  /** The host's name at that moment. */
  readonly host: string;
  /** The end of the account, or of what was allowed on request. Hours end earlier, and begin again. */
  readonly until: Date;
  /** Of the keys that counted, oldest first; at least one. */
  readonly fingerprints: readonly string[];
  /** Who created, enabled or extended the user last, or allowed what was on request. */
  readonly decidedBy: string;
  /** What they could do there, in words: by their profile, and by those of the groups by which they came there; empty for anything. */
  readonly profile: string;
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
  /** 0 for at once. */
  startsAt: number;
  /** Of the week, as text: the user's own and the company's; empty for always. */
  hours: string;
  companyHours: string;
  isOnRequest: boolean;
  /** What was allowed last; undefined once it was ended. */
  allowed: (Allowed & { readonly by: string }) | undefined;
  isDisabled: boolean;
  /** The name of their own profile; empty for none. */
  profile: string;
  decidedBy: string;
  /** Fingerprints by the ids of the keys. */
  readonly keys: Map<string, string>;
  hosts: ReadonlySet<number>;
  groups: ReadonlySet<number>;
}

/** The actions after which the user is gone. */
const REMOVALS: readonly string[] = ["user.delete", "user.give_back", "lifecycle.recycle"] satisfies AuditAction[];

/** Follows the log record by record, the oldest first. */
export class History {
  readonly #users = new Map<number, PastUser>();
  readonly #hosts = new PastHosts();
  readonly #profiles = new PastProfiles();

  /** The actions that it learns from; other records change nothing. */
  static readonly ACTIONS: readonly AuditAction[] = [
    ...(["user.create", "user.adopt", "user.give_back", "user.enable", "user.extend", "user.shorten"] as const),
    ...(["user.disable", "user.lock", "user.delete", "user.grant", "user.update", "sponsor.end"] as const),
    ...(["access.allow", "access.end", "lifecycle.expire", "lifecycle.recycle", "reconcile.repair"] as const),
    ...(["key.create", "key.confirm", "key.revoke", "company.update", "service.restore"] as const),
    ...PastHosts.ACTIONS,
    ...PastProfiles.ACTIONS,
  ];

  apply(record: HistoryRecord): void {
    const detail: Detail = JSON.parse(record.detail);
    const { action, resourceId, result } = record;
    if (action.startsWith("key.")) this.#applyToKey(record, detail);
    else if (action.startsWith("host")) {
      if (result === "success") this.#hosts.apply(action, Number(resourceId), detail);
    } else if (action.startsWith("profile.")) {
      if (result === "success") this.#profiles.apply(detail);
    } else if (action === "company.update") this.#renameCompany(record, detail);
    else if (action === "service.restore") this.#endAllowances();
    else this.#applyToUser(record, detail);
  }

  /** Each account that could be logged in to at that moment, by username and host. */
  accessAt(at: Date, { host: wanted, company }: AccessFilter = {}): readonly Access[] {
    const isOpen = hoursAt(at);
    const hosts = this.#hosts.open(isOpen);
    const found = [...this.#users].flatMap(([userId, user]) => {
      if (!hasAccess(user, at.getTime()) || !isOpen(user.hours) || !isOpen(user.companyHours)) return [];
      if (company !== undefined && user.company !== company) return [];
      const fingerprints = [...user.keys.values()];
      return [...this.#hosts.reached(user.hosts, user.groups)].flatMap((id) => {
        const host = hosts.get(id);
        const grant = grantOf(user, id, at);
        if (host === undefined || grant === undefined || (wanted !== undefined && host !== wanted)) return [];
        const where = { host, profile: this.#profileOn(id, user) };
        return [{ userId, username: user.username, fingerprints, ...grant, ...where }];
      });
    });
    return found.sort((one, other) => compare(one.username, other.username) || compare(one.host, other.host));
  }

  #profileOn(host: number, { profile, groups }: PastUser): string {
    const byGroups = this.#hosts
      .profiles(host, groups)
      .map((binding) => this.#profiles.words(binding.profile, binding.group));
    return [this.#profiles.words(profile), ...byGroups].filter(Boolean).join("; ");
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
    if (isDisabling(action, detail) || isEnding(action, detail)) user.allowed = undefined;
    // One that the host did not finish is stored, and says so.
    if (action === "user.update") updateUser(user, detail);
    if (action === "user.shorten" && typeof detail.expire_at === "string") user.until = timeOf(detail, "expire_at");
    if (result !== "success") return;
    if (action === "user.enable") user.isDisabled = false;
    if (action === "user.extend") user.until = timeOf(detail, "expire_at");
    if (action === "user.enable" || action === "user.extend") user.decidedBy = actor;
    if (action === "access.allow") user.allowed = { ...this.#allowed(user, detail), by: actor };
    if (action === "user.grant") {
      user.hosts = this.#hosts.hostsNamed(namesIn(detail, "hosts"));
      user.groups = this.#hosts.groupsNamed(namesIn(detail, "groups"));
    }
  }

  /** To these hosts, or to all, besides what is allowed still. */
  #allowed({ allowed }: PastUser, detail: Detail): Allowed {
    const until = new Date(timeOf(detail, "until"));
    if (detail.hosts === undefined && (allowed?.hosts ?? null) === null) return { until, hosts: null };
    const hosts = detail.hosts === undefined ? null : [...this.#hosts.hostsNamed(namesIn(detail, "hosts"))];
    // The log has no moment here: an end that is over stays, and is over.
    return allowedFurther(allowed, { hosts, until }, new Date(0));
  }

  #renameCompany({ result }: HistoryRecord, detail: Detail): void {
    if (result !== "success" || typeof detail.new_name !== "string") return;
    for (const user of this.#users.values()) if (user.company === detail.name) user.company = detail.new_name;
  }

  /** As a restore does: what was allowed may have been ended since the backup. */
  #endAllowances(): void {
    for (const user of this.#users.values()) user.allowed = undefined;
  }

  /** An adopted account is on the service's own host alone, and a company may have groups of its own. */
  #newUser(actor: string, detail: Detail, action: "user.create" | "user.adopt"): PastUser {
    return {
      username: textOf(detail, "username"),
      company: textOf(detail, "company"),
      until: timeOf(detail, "expire_at"),
      startsAt: timeOf(detail, "starts_at"),
      hours: textOf(detail, "hours"),
      companyHours: textOf(detail, "company_hours"),
      isOnRequest: textOf(detail, "on_request") !== "",
      allowed: undefined,
      isDisabled: false,
      profile: textOf(detail, "profile"),
      decidedBy: actor,
      keys: new Map(),
      hosts: new Set(action === "user.adopt" ? [LOCAL_HOST] : []),
      groups:
        action === "user.adopt" || detail.groups !== undefined
          ? this.#hosts.groupsNamed(namesIn(detail, "groups"))
          : new Set([this.#hosts.defaultGroup]),
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
}

/** Whether the user has access at the moment, by anything but hours. */
function hasAccess({ until, startsAt, isDisabled, isOnRequest, allowed, keys }: PastUser, at: number): boolean {
  if (isDisabled || keys.size === 0 || at < startsAt || at >= until) return false;
  return !isOnRequest || (allowed !== undefined && at < allowed.until.getTime());
}

/** Undefined where it is on request, and not allowed on that host. */
function grantOf(
  { until, decidedBy, isOnRequest, allowed }: PastUser,
  host: number,
  at: Date,
): Pick<Access, "until" | "decidedBy"> | undefined {
  if (!isOnRequest || allowed === undefined) return { until: new Date(until), decidedBy };
  const end = allowedOn(allowed, host);
  if (end === undefined || end <= at) return undefined;
  return { until: new Date(Math.min(until, end.getTime())), decidedBy: allowed.by };
}

/** Whether hours of the week, as text, are open at the moment; those that cannot be read never are. */
function hoursAt(at: Date): (hours: string) => boolean {
  const known = new Map([["", true]]);
  return (hours) => {
    const isOpen = known.get(hours) ?? spansOf([hours], at, shift(at, 1)).length > 0;
    known.set(hours, isOpen);
    return isOpen;
  };
}

/** What a change of the user says of when they have access, and of whose they are. */
function updateUser(user: PastUser, detail: Detail): void {
  const { company, company_hours: companyHours, hours, on_request: onRequest } = detail;
  if (typeof company === "string") user.company = company;
  if (typeof companyHours === "string") user.companyHours = companyHours;
  if (typeof hours === "string") user.hours = hours;
  if (typeof detail.profile === "string") user.profile = detail.profile;
  if (typeof onRequest === "string") user.isOnRequest = onRequest !== "";
  if (detail.starts_at !== undefined) user.startsAt = timeOf(detail, "starts_at");
  if (detail.allowed_until !== undefined) {
    const until = new Date(timeOf(detail, "allowed_until"));
    user.allowed = until.getTime() === 0 || user.allowed === undefined ? undefined : { ...user.allowed, until };
  }
}

/** Whether the record says that what was allowed on request is over. An end that the host did not finish is stored, and says so. */
function isEnding(action: string, { status, until }: Detail): boolean {
  if (action === "access.end") return until !== undefined;
  return action === "lifecycle.expire" && status !== undefined;
}

/**
 * Whether the record says that the user is disabled. One of a closing that failed on the host says so, too, if it is stored. Expired users
 * who are disabled stay expired, and come back as disabled.
 */
function isDisabling(action: string, { status }: Detail): boolean {
  if (action === "user.disable" || action === "user.lock" || action === "sponsor.end") return status !== undefined;
  return action !== "user.enable" && status === "disabled";
}

/** 0 where the record has no such time. */
function timeOf(detail: Detail, name: "expire_at" | "starts_at" | "until" | "allowed_until"): number {
  const text = textOf(detail, name);
  return text === "" ? 0 : Date.parse(text);
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
