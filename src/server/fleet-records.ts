/** Hosts, groups and grants as the records that the API and the command line show. */

import { statusAt } from "../domain/accounts/find-user.ts";
import type { WantedHosts } from "../domain/hosts/grants.ts";
import type { HostGroup } from "../domain/hosts/groups.ts";
import type { HostUser } from "../domain/hosts/host-users.ts";
import type { HostDetail, HostEntry } from "../domain/hosts/hosts.ts";
import { type OwnHost, serverKeysOf } from "../domain/hosts/own-hosts.ts";
import type { FleetPreview } from "../domain/hosts/previews.ts";
import type { HostProblem } from "../domain/hosts/problems.ts";
import type { Retirement } from "../domain/hosts/retirement.ts";
import type { UserHost } from "../domain/hosts/user-hosts.ts";
import { shownServerKey } from "../domain/mail/site.ts";
import type { JoinLine } from "../domain/wire/join-tokens.ts";
import type { ProfileState } from "../protocol/profile.ts";
import { withoutPrefix } from "../shared/text/account-name.ts";
import { knownHostsLines, sshConfig } from "../shared/text/connection.ts";
import { formatLease, isForever } from "../shared/time/lease.ts";
import { formatOptionalTimestamp, formatTimestamp } from "../shared/time/timestamp.ts";
import type { HostRow } from "../store/schema-fleet.ts";
import { weekRecord } from "./hours-records.ts";
import { connectionRecord } from "./profile-records.ts";

/** Where the service's own host is reached, which its row does not say. */
export interface LocalSite {
  readonly host: string;
  readonly port: number;
}

/** A host as lists show it. */
export function hostRecord(entry: HostEntry, site: LocalSite) {
  return { ...fieldsOf(entry, site), problems: entry.problems };
}

/** One host in full. */
export function hostDetailRecord(detail: HostDetail, site: LocalSite) {
  return {
    ...fieldsOf(detail, site),
    host_keys: serverKeysOf(detail.row).map(shownServerKey),
    accounts: { total: detail.accounts.total, open: detail.accounts.open },
    problems: detail.problems.map(hostProblemRecord),
    profiles: profilesSaid(detail.row),
  };
}

function profilesSaid({ profiles }: HostDetail["row"]) {
  const said = JSON.parse(profiles ?? "[]") as readonly ProfileState[];
  return said.map((one) => ({ name: one.name, state: one.state, problem: one.state === "problem" ? one.problem : "" }));
}

function fieldsOf({ row, groups, lease }: Pick<HostEntry, "row" | "groups" | "lease">, site: LocalSite) {
  const isLocal = row.kind === "local";
  return {
    id: row.id,
    name: row.name,
    kind: row.kind,
    status: row.status,
    groups: [...groups],
    ssh_host: isLocal ? site.host : row.sshHost,
    ssh_port: isLocal ? site.port : row.sshPort,
    lease: isLocal ? null : formatLease(lease),
    own_lease: formatLease(row.leaseMs),
    lease_ends: row.leaseEnds,
    lease_until: formatOptionalTimestamp(leaseEnd(row)),
    enrolled_at: formatTimestamp(row.enrolledAt),
    last_seen_at: formatOptionalTimestamp(row.lastSeenAt),
    mode: row.mode,
    version: row.version,
    clock_offset_ms: row.clockOffsetMs,
  };
}

/** A problem of a host. */
export function hostProblemRecord({ host, account, kind, text, since }: HostProblem) {
  return { host, account, kind, text, since: formatTimestamp(since) };
}

/** A user with an account on a host; `now` decides who is expired. */
export function hostUserRecord({ user, group, state, since, removing, problem, sessions }: HostUser, now: Date) {
  return {
    id: user.id,
    username: user.username,
    full_name: user.fullName,
    status: statusAt(user, now),
    expire_at: formatTimestamp(user.expireAt),
    ...{ group, state, since: formatTimestamp(since), removing, problem, sessions: sessions ?? null },
  };
}

export function hostGroupRecord({ row, hosts, users, isDefault }: HostGroup) {
  return {
    id: row.id,
    name: row.name,
    hosts: [...hosts],
    users,
    lease: formatLease(row.leaseMs),
    hours: weekRecord(row),
    profile: row.profile,
    for_new_users: isDefault,
    created_at: formatTimestamp(row.createdAt),
  };
}

/** The effects of a change of hosts, groups or a user's hosts. */
export function fleetPreviewRecord({ effects, host, accounts }: FleetPreview) {
  return { preview: true as const, effects: [...effects], host: [...host], accounts: { ...accounts } };
}

export function joinLineRecord({ line, expiresAt }: JoinLine) {
  return { line, expires_at: formatTimestamp(expiresAt) };
}

export function retirementRecord({ status, accounts, effectiveBy }: Retirement) {
  return { status, accounts, effective_by: formatOptionalTimestamp(effectiveBy) };
}

/** A user's grants, and the hosts where these give an account. */
export function userHostsRecord({ hosts, groups }: WantedHosts, places: readonly UserHost[]) {
  return { hosts: [...hosts], groups: [...groups], items: places.map(placeRecord) };
}

function placeRecord({ host, group, state, since, removing, problem }: UserHost) {
  return {
    host: host.name,
    group,
    state,
    since: formatTimestamp(since),
    removing,
    problem,
    lease_until: formatOptionalTimestamp(leaseEnd(host)),
  };
}

/** How external users connect to one of their hosts. */
export function ownHostRecord({ name, account, state, profile, site, serverKeys }: OwnHost) {
  if (site === undefined) return { name, state, ssh: null };
  const username = withoutPrefix(account);
  return {
    name,
    state,
    ssh: {
      host: site.host,
      port: site.port,
      host_keys: serverKeys.map(shownServerKey),
      ...connectionRecord(profile, site, username),
      config: sshConfig(site, username),
      known_hosts: [...knownHostsLines(site, serverKeys)],
    },
  };
}

/** Null, too, for a lease without end. */
function leaseEnd({ kind, leaseUntil }: HostRow): Date | null {
  return kind === "local" || leaseUntil === null || isForever(leaseUntil) ? null : leaseUntil;
}
