/** Stored rows as the records that the API and the command line show. */

import type { OwedClosing } from "../domain/accounts/closings.ts";
import { statusAt } from "../domain/accounts/find-user.ts";
import type { OwnTerms } from "../domain/accounts/terms.ts";
import type { PasskeyEntry } from "../domain/auth/factors/passkeys.ts";
import type { Principal, UsedToken } from "../domain/auth/sessions/sessions.ts";
import type { TokenEntry } from "../domain/auth/tokens/tokens.ts";
import type { Confirmation } from "../domain/hosts/confirmation.ts";
import { shownServerKey } from "../domain/mail/site.ts";
import type { SettingPreview } from "../domain/settings/preview.ts";
import type { Setting } from "../domain/settings/settings.ts";
import type { Series } from "../domain/stats/series.ts";
import type { Stats } from "../domain/stats/stats.ts";
import type { OwnAccount } from "../domain/users/own-account.ts";
import type { UserPreview } from "../domain/users/preview.ts";
import type { OpenSession } from "../domain/users/ssh-sessions.ts";
import { settingText } from "../shared/product/setting-keys.ts";
import { hostAccountOf } from "../shared/text/account-name.ts";
import { knownHostsLines, sshConfig } from "../shared/text/connection.ts";
import { formatOptionalTimestamp, formatTimestamp } from "../shared/time/timestamp.ts";
import type { ApprovalRow, KeyRow, UserRow } from "../store/schema.ts";
import type { TotpRow } from "../store/schema-passkeys.ts";
import { accessNow, accessTimes, type OwnHosts, ownHoursRecord, ownOnRequest } from "./hours-records.ts";
import { ownConnection, ownProfile } from "./profile-records.ts";

/** The user as of now: from the moment of expiry they read as expired, whatever the jobs have done. */
export function userRecord(user: UserRow, now: Date) {
  return {
    id: user.id,
    username: user.username,
    host_account: hostAccountOf(user.username),
    email: user.email,
    full_name: user.fullName,
    supervisor: user.supervisor,
    purpose: user.purpose,
    note: user.note,
    source_networks: [...user.sourceNetworks],
    company_id: user.companyId,
    manager: user.manager,
    sponsor_email: user.sponsorEmail,
    profile: user.profile,
    status: statusAt(user, now),
    expire_at: formatTimestamp(user.expireAt),
    ...accessTimes(user, now),
    disabled_at: formatOptionalTimestamp(user.disabledAt),
    welcome: user.welcomePendingSince === null ? ("sent" as const) : ("pending" as const),
    created_at: formatTimestamp(user.createdAt),
    updated_at: formatTimestamp(user.updatedAt),
  };
}

/** A user's view of their own account. */
export function ownRecord(account: OwnAccount, now: Date, askable: OwnHosts = []) {
  const { user, site, serverKeys, request, terms } = account;
  const record = userRecord(user, now);
  const { host, port, contact = "" } = site;
  const hours = ownHoursRecord(user, now);
  return {
    ...{ id: record.id, username: record.username, host_account: record.host_account },
    ...{ email: record.email, full_name: record.full_name },
    supervisor: record.supervisor,
    purpose: record.purpose,
    source_networks: record.source_networks,
    manager: record.manager,
    profile: ownProfile(user),
    status: record.status,
    expire_at: record.expire_at,
    ...accessNow(user, now),
    on_request: ownOnRequest(account, askable),
    created_at: record.created_at,
    ends: endsOf(account, now),
    ssh: site.withoutHost
      ? null
      : {
          host,
          port,
          host_keys: serverKeys.map(shownServerKey),
          ...ownConnection(user, site),
          config: sshConfig(site, user.username),
          known_hosts: [...knownHostsLines(site, serverKeys)],
        },
    contact,
    extension: request === undefined ? null : requestRecord(request),
    ...(hours === undefined ? {} : { hours }),
    ...(terms === undefined ? {} : { terms: ownTermsRecord(terms) }),
  };
}

/** The terms of use, as far as they concern one user. */
export function ownTermsRecord({ version, acceptedAt }: OwnTerms) {
  return { version, pending: acceptedAt === null, accepted_at: formatOptionalTimestamp(acceptedAt) };
}

/** When logins end or ended, and why. */
function endsOf({ user, removedAt }: OwnAccount, now: Date) {
  const status = statusAt(user, now);
  const reason = status === "active" ? ("expiry" as const) : status;
  const at = status === "disabled" ? (user.disabledAt ?? user.updatedAt) : user.expireAt;
  return { at: formatTimestamp(at), reason, removed_at: formatTimestamp(removedAt) };
}

/** A user's view of their own request for more time. */
function requestRecord({ id, status, days, createdAt, reviewedAt, reason }: ApprovalRow) {
  const times = { created_at: formatTimestamp(createdAt), reviewed_at: formatOptionalTimestamp(reviewedAt) };
  return { id, status, days: days ?? 0, ...times, reason };
}

export function keyRecord(key: KeyRow) {
  return {
    id: key.id,
    name: key.name,
    type: key.type,
    bits: key.bits,
    fingerprint: key.fingerprint,
    public_key: key.publicKey,
    ...{ model: key.model, aaguid: key.aaguid },
    source_networks: [...key.sourceNetworks],
    status: key.status,
    created_at: formatTimestamp(key.createdAt),
    revoked_at: formatOptionalTimestamp(key.revokedAt),
    last_used_at: formatOptionalTimestamp(key.lastUsedAt),
    last_used_from: key.lastUsedFrom,
  };
}

export function sessionRecord({ id, since, from, key }: OpenSession) {
  return {
    id,
    since: formatTimestamp(since),
    from,
    key: key === undefined ? null : { id: key.id, name: key.name, fingerprint: key.fingerprint },
  };
}

export function applicationRecord(application: ApprovalRow) {
  return {
    id: application.id,
    kind: application.kind,
    user_id: application.userId,
    ...{ days: application.days, hours: application.hours, hosts: application.hosts },
    end_when_asked: formatOptionalTimestamp(application.endThen),
    username: application.username,
    email: application.email,
    full_name: application.fullName,
    supervisor: application.supervisor,
    company_id: application.companyId,
    requested_by: application.requestedBy,
    ...{ purpose: application.purpose, hours_wish: application.hoursWish },
    sponsor_email: application.sponsorEmail,
    sponsor_answer: application.sponsorAnswer,
    sponsor_reason: application.sponsorReason,
    status: application.status,
    reason: application.reason,
    reviewed_by: application.reviewedBy,
    reviewed_at: formatOptionalTimestamp(application.reviewedAt),
    created_at: formatTimestamp(application.createdAt),
  };
}

export function settingRecord({ key, value, overridden, pending }: Setting) {
  const record = { key, value: settingText(value), overridden };
  if (pending === undefined) return record;
  return { ...record, pending: { value: settingText(pending.value), at: formatTimestamp(pending.at) } };
}

/** The effects of a change to a user. */
export function userPreviewRecord({ effects, host, status, expireAt }: UserPreview) {
  return {
    preview: true as const,
    status,
    expire_at: formatOptionalTimestamp(expireAt),
    effects: [...effects],
    host: [...host],
  };
}

/** The effects of a change to a setting. */
export function settingPreviewRecord({ key, value, at, deletes, effects, host }: SettingPreview) {
  const { users, auditRecords } = deletes;
  return {
    preview: true as const,
    ...{ key, value: settingText(value), at: formatTimestamp(at) },
    deletes: { users, audit_records: auditRecords },
    effects: [...effects],
    host: [...host],
  };
}

export function statsRecord(stats: Stats) {
  return {
    total: stats.total,
    active: stats.active,
    disabled: stats.disabled,
    expired: stats.expired,
    expiring_soon: stats.expiringSoon.map((user) => userRecord(user, stats.at)),
    pending_approvals: stats.pendingApprovals,
  };
}

/** The outstanding work on the host. */
export function problemRecord({ closing, username }: OwedClosing) {
  return {
    id: closing.id,
    user_id: closing.userId,
    username,
    kind: closing.kind,
    since: formatTimestamp(closing.begunAt),
    attempts: closing.attempts,
    next_attempt_at: formatTimestamp(closing.dueAt),
    problem: closing.problem,
  };
}

/** The dashboard's figures by day. */
export function seriesRecord({ days, states, ends, changes }: Series) {
  return { days, states: [...states], ends: [...ends], changes: [...changes] };
}

export function passkeyRecord(passkey: PasskeyEntry) {
  return {
    id: passkey.id,
    name: passkey.name,
    backed_up: passkey.backedUp,
    created_at: formatTimestamp(passkey.createdAt),
    last_used_at: formatOptionalTimestamp(passkey.lastUsedAt),
  };
}

/** An authenticator app, and that there is none. */
export function appRecord(app: Pick<TotpRow, "createdAt" | "lastUsedAt"> | undefined) {
  return {
    added: app !== undefined,
    created_at: formatOptionalTimestamp(app?.createdAt ?? null),
    last_used_at: formatOptionalTimestamp(app?.lastUsedAt ?? null),
  };
}

export function tokenRecord(token: TokenEntry) {
  return {
    id: token.id,
    name: token.name,
    role: token.role,
    prefix: token.prefix,
    owner: token.owner,
    made_by: token.madeBy,
    networks: [...token.networks],
    created_at: formatTimestamp(token.createdAt),
    expires_at: formatTimestamp(token.expiresAt),
    last_used_at: formatOptionalTimestamp(token.lastUsedAt),
    last_used_from: token.lastUsedFrom,
    revoked_at: formatOptionalTimestamp(token.revokedAt),
    status: token.status,
  };
}

function usedTokenRecord({ id, name, expiresAt }: UsedToken) {
  return { id, name, expires_at: formatTimestamp(expiresAt) };
}

export function principalRecord(principal: Principal) {
  return {
    user_type: principal.userType,
    id: principal.id,
    username: principal.username,
    email: principal.email ?? "",
    ...(principal.role === undefined ? {} : { role: principal.role }),
    ...(principal.needs === undefined ? {} : { needs: principal.needs }),
    ...(principal.token === undefined ? {} : { token: usedTokenRecord(principal.token) }),
  };
}

/** The progress of a change on the remote hosts, as a part of its answer; nothing if no host is affected. */
export function hostsRecord(known: Confirmation | undefined) {
  if (known === undefined) return {};
  const { total, confirmed, pending, effectiveBy } = known;
  return { hosts: { total, confirmed, pending: [...pending], effective_by: formatOptionalTimestamp(effectiveBy) } };
}
