/** Every mail that the program sends, with one value wherever a stranger's text can be, and where each leads. */

import * as access from "../../src/domain/mail/access-messages.ts";
import * as account from "../../src/domain/mail/account-messages.ts";
import * as invited from "../../src/domain/mail/admin-messages.ts";
import * as agents from "../../src/domain/mail/agent-messages.ts";
import * as about from "../../src/domain/mail/audit-messages.ts";
import * as companies from "../../src/domain/mail/company-messages.ts";
import * as factors from "../../src/domain/mail/factor-messages.ts";
import * as fleet from "../../src/domain/mail/fleet-messages.ts";
import * as host from "../../src/domain/mail/host-messages.ts";
import * as inactivity from "../../src/domain/mail/inactivity-messages.ts";
import type { Letter } from "../../src/domain/mail/letter.ts";
import * as mail from "../../src/domain/mail/messages.ts";
import * as request from "../../src/domain/mail/request-messages.ts";
import * as reviews from "../../src/domain/mail/review-messages.ts";
import type { SiteWithKeys } from "../../src/domain/mail/site.ts";
import * as sponsors from "../../src/domain/mail/sponsor-messages.ts";
import * as tokens from "../../src/domain/mail/token-messages.ts";
import * as hooks from "../../src/domain/mail/webhook-messages.ts";
import type { HostProfile } from "../../src/protocol/profile.ts";
import { DAY, HOUR, MINUTE } from "../../src/shared/time/clock.ts";

export const HOST_KEY = `SHA256:${"k".repeat(43)} (ED25519)`;
export const SITE: SiteWithKeys = {
  baseUrl: "https://uam.example.org",
  host: "login.example.org",
  port: 22,
  contact: undefined,
  console: true,
  hostKeys: [HOST_KEY],
};
export const WITHOUT_PAGES: SiteWithKeys = { ...SITE, console: false };
export const NOW = new Date("2026-11-20T08:00:00.000Z");
export const END = new Date("2027-02-18T08:00:00.000Z");

export interface LetterCase {
  /** The function that makes it, and what is special about this one. */
  readonly name: string;
  readonly to: "user" | "supervisor" | "sponsor" | "applicant" | "administrators";
  readonly make: (site: SiteWithKeys, value: string) => Letter;
  /** What it links to behind the origin, where there are pages; each from the first. */
  readonly pages: readonly string[];
  /** And where there are none. */
  readonly without: readonly string[];
}

const user = (username: string) => ({ username, expireAt: END, status: "active", profiles: null }) as const;
/** Both hours are as they are stored, so nobody's text. */
const timed = (username: string): Parameters<typeof mail.accountCreated>[1] => ({
  ...{ ...user(username), startsAt: new Date("2026-12-01T07:00:00Z"), hours: "mon-fri 08:00-18:00 Europe/Berlin" },
  ...{ companyHours: "mon-sat 06:00-22:00 Europe/Lisbon", hoursEnd: "sessions" },
  ...{ requestRule: "sponsor", requestHours: 4 },
});
const disabled = (username: string) => ({ ...user(username), status: "disabled" }) as const;
const TARGETS = ["db1.example.org:5432", "web1:80"];
const bound = (username: string, profile: Omit<HostProfile, "name" | "secondFactor">) => ({
  ...user(username),
  profiles: [{ name: "some", secondFactor: "none", ...profile } as const],
});
const key = (value: string) => ({ name: value, type: value, fingerprint: value });
const application = (value: string) => ({ username: value, email: value, supervisor: value, purpose: value });
const accessRequest = (value: string) => ({
  ...application(value),
  id: 7,
  fullName: `A ${value}`,
  hours: 4,
  hosts: [value],
});
const silent = (value: string) => ({ name: value, lastSeenAt: NOW, shutsAt: END });
const token = (value: string) => encodeURIComponent(value);
const review = (value: string) => ({ id: 7, scope: value, dueAt: END, disables: true });
const factor = (value: string) => ({
  ...{ username: value, names: [`the passkey ${value}`, value], at: NOW, by: value, from: "192.0.2.1" },
});
const machine = (value: string) => ({
  ...{ id: 7, name: value, prefix: "uam_01234567", owner: value, role: "operator" as const },
  ...{ networks: ["192.0.2.0/24"], expiresAt: END },
});

/** `VALUE` in a link stands for the value as it is written there. */
export const LETTERS: readonly LetterCase[] = [
  {
    ...{ name: "oneTimeCode", to: "user", pages: ["/login#VALUE.VALUE"], without: [] },
    make: (site, value) => mail.oneTimeCode(site, { username: value, oneTime: value, ttl: 10 * MINUTE }),
  },
  {
    ...{ name: "applicationApproved", to: "user", pages: ["/login#VALUE", "/me/keys"], without: [""] },
    make: (site, value) => mail.applicationApproved(site, user(value)),
  },
  {
    ...{ name: "applicationApproved, with hours and on request", to: "user" },
    ...{ pages: ["/login#VALUE", "/me/keys", "/me"], without: [""] },
    make: (site, value) => mail.applicationApproved(site, timed(value)),
  },
  {
    ...{ name: "applicationApprovedLater", to: "user", pages: [], without: [] },
    make: (site, value) => mail.applicationApprovedLater(site, { username: value }),
  },
  {
    ...{ name: "applicationRejected", to: "user", pages: ["/apply"], without: [] },
    make: (site, value) => mail.applicationRejected(site, { username: value, reason: value }),
  },
  {
    ...{ name: "accountCreated", to: "user", pages: ["/login#VALUE", "/me/keys"], without: [""] },
    make: (site, value) => mail.accountCreated(site, user(value)),
  },
  {
    ...{ name: "accountCreated, for files only", to: "user", pages: ["/login#VALUE", "/me/keys"], without: [""] },
    make: (site, value) => mail.accountCreated(site, bound(value, { kind: "sftp", directory: "/data/acme" })),
  },
  {
    ...{ name: "accountEnabled, for connections only", to: "user", pages: ["/me/keys"], without: [""] },
    make: (site, value) => account.accountEnabled(site, bound(value, { kind: "forward", targets: TARGETS })),
  },
  {
    ...{ name: "accountCreated, with hours and on request", to: "user" },
    ...{ pages: ["/login#VALUE", "/me/keys", "/me"], without: [""] },
    make: (site, value) => mail.accountCreated(site, timed(value)),
  },
  {
    ...{ name: "accountExtended", to: "user", pages: ["/me/keys"], without: [""] },
    make: (site, value) => account.accountExtended(site, user(value)),
  },
  {
    ...{ name: "termsAsked", to: "user", pages: ["/me"], without: [] },
    make: (site, value) => account.termsAsked(site, user(value)),
  },
  {
    ...{ name: "accountExtended, disabled", to: "user", pages: [], without: [] },
    make: (site, value) => account.accountExtended(site, disabled(value)),
  },
  {
    ...{ name: "accountShortened", to: "user", pages: [], without: [] },
    make: (site, value) => account.accountShortened(site, user(value), new Date("2027-03-01T08:00:00Z")),
  },
  {
    ...{ name: "accountEnabled", to: "user", pages: ["/me/keys"], without: [""] },
    make: (site, value) => account.accountEnabled(site, user(value)),
  },
  {
    ...{ name: "accountDisabled", to: "user", pages: [], without: [] },
    make: (site, value) => account.accountDisabled(site, user(value), { at: NOW }),
  },
  {
    ...{ name: "accountDisabled, with a reason", to: "user", pages: [], without: [] },
    make: (site, value) => account.accountDisabled(site, user(value), { at: NOW, reason: value }),
  },
  {
    ...{ name: "accountDeleted", to: "user", pages: ["/apply"], without: [] },
    make: (site, value) => account.accountDeleted(site, user(value), { at: NOW }),
  },
  {
    ...{ name: "addressRemoved", to: "user", pages: [], without: [] },
    make: (site, value) => account.addressRemoved(site, user(value), { at: NOW }),
  },
  {
    ...{ name: "addressSet", to: "user", pages: ["/me/keys"], without: [""] },
    make: (site, value) => account.addressSet(site, user(value), { at: NOW }),
  },
  {
    ...{ name: "addressSet, disabled", to: "user", pages: [], without: [] },
    make: (site, value) => account.addressSet(site, disabled(value), { at: NOW }),
  },
  {
    ...{ name: "expiryReminder", to: "user", pages: ["/me"], without: [] },
    make: (site, value) => account.expiryReminder(site, user(value), { now: NOW, to: "user" }),
  },
  {
    ...{ name: "expiryReminder, disabled", to: "user", pages: [], without: [] },
    make: (site, value) => account.expiryReminder(site, disabled(value), { now: NOW, to: "user" }),
  },
  {
    ...{ name: "expiryReminder, supervisor", to: "supervisor", pages: [], without: [] },
    make: (site, value) => account.expiryReminder(site, user(value), { now: NOW, to: "supervisor" }),
  },
  {
    ...{ name: "expired", to: "user", pages: [], without: [] },
    make: (site, value) => account.expired(site, user(value), END),
  },
  {
    ...{ name: "keyAdded", to: "user", pages: ["/me/keys", "/me/not-me"], without: [""] },
    make: (site, value) => mail.keyAdded(site, user(value), key(value)),
  },
  {
    ...{ name: "keyRemoved", to: "user", pages: ["/me/keys", "/me/not-me"], without: [] },
    make: (site, value) => mail.keyRemoved(site, user(value), key(value), { here: "kept", elsewhere: false }),
  },
  {
    ...{ name: "applicationArrived", to: "applicant", pages: [], without: [] },
    make: (site, value) => mail.applicationArrived(site, { username: value }),
  },
  {
    ...{ name: "adminReset", to: "administrators", pages: ["/reset#VALUE"], without: [] },
    make: (site, value) => mail.adminReset(site, { username: value, token: value, ttl: 30 * MINUTE }),
  },
  {
    ...{ name: "applicationReceived", to: "administrators", pages: ["/admin/applications"] },
    without: ["/api/v1/approvals?status=pending"],
    make: (site, value) => mail.applicationReceived(site, { ...application(value), id: 7 }),
  },
  {
    ...{ name: "applicationsReceived", to: "administrators", pages: ["/admin/applications"] },
    without: ["/api/v1/approvals?status=pending"],
    make: (site, value) =>
      mail.applicationsReceived(site, { total: 3, items: [application(value), application(value)] }),
  },
  {
    ...{ name: "clockJump", to: "administrators", pages: [], without: [] },
    make: (site) => mail.clockJump(site, { from: NOW, to: END, resumesAt: END }),
  },
  {
    ...{ name: "auditHead", to: "administrators", pages: ["/admin/audit"], without: [] },
    make: (site, value) => mail.auditHead(site, { at: NOW, count: 12, head: value }),
  },
  {
    ...{ name: "accessOwed", to: "administrators", pages: ["/admin/users/7"], without: [] },
    make: (site, value) => host.accessOwed(site, { id: 7, username: value, owed: [value, value] }),
  },
  {
    ...{ name: "narrowingOwed", to: "administrators", pages: ["/admin/users/7"], without: [] },
    make: (site, value) => host.narrowingOwed(site, { id: 7, username: value, owed: [value, value] }),
  },
  {
    ...{ name: "shorteningOwed", to: "administrators", pages: ["/admin/users/7"], without: [] },
    make: (site, value) => host.shorteningOwed(site, { id: 7, username: value, owed: [value, value] }),
  },
  {
    ...{ name: "profileOwed", to: "administrators", pages: ["/admin/users/7"], without: [] },
    make: (site, value) => host.profileOwed(site, { id: 7, username: value, owed: [value, value] }),
  },
  {
    ...{ name: "hostsSilent", to: "administrators", pages: [], without: [] },
    make: (site, value) => fleet.hostsSilent(site, [silent(value)]),
  },
  {
    ...{ name: "hostsShut", to: "administrators", pages: [], without: [] },
    make: (site, value) => fleet.hostsShut(site, [silent(value), { ...silent(value), lastSeenAt: null }]),
  },
  {
    ...{ name: "hostsBack", to: "administrators", pages: [], without: [] },
    make: (site, value) => fleet.hostsBack(site, [silent(value)]),
  },
  {
    ...{ name: "hostKeyCopied", to: "administrators", pages: [], without: [] },
    make: (site, value) => agents.hostKeyCopied(site, { name: value }),
  },
  {
    ...{ name: "historyDiverged", to: "administrators", pages: [], without: [] },
    make: (site, value) => agents.historyDiverged(site, { name: value }),
  },
  {
    ...{ name: "closedAccountDiffered", to: "administrators", pages: [], without: [] },
    make: (site, value) => agents.closedAccountDiffered(site, { host: value, account: value, found: value }),
  },
  {
    ...{ name: "keyCameBack", to: "administrators", pages: ["/admin/users/7"], without: [] },
    make: (site, value) => host.keyCameBack(site, { id: 7, username: value, disabled: false }),
  },
  {
    ...{ name: "keyCameBack, disabled", to: "administrators", pages: ["/admin/users/7"], without: [] },
    make: (site, value) => host.keyCameBack(site, { id: 7, username: value, disabled: true }),
  },
  {
    ...{ name: "periodShortened", to: "administrators", pages: ["/admin/settings"], without: [] },
    make: (site, value) =>
      about.periodShortened(site, { key: "policy.recycle_period", from: 30 * DAY, to: 36 * HOUR, at: END, by: value }),
  },
  {
    ...{ name: "auditPurged", to: "administrators", pages: ["/admin/audit"], without: [] },
    make: (site) => about.auditPurged(site, { removed: 2, before: NOW, retention: 365 * DAY }),
  },
  {
    ...{ name: "lockedByOwner", to: "administrators", pages: ["/admin/users/7"], without: [] },
    make: (site, value) =>
      request.lockedByOwner(site, { id: 7, username: value, email: value }, { at: NOW, from: value, owed: [] }),
  },
  {
    ...{ name: "lockedByOwner, owed", to: "administrators", pages: ["/admin/users/7"], without: [] },
    make: (site, value) =>
      request.lockedByOwner(
        site,
        { id: 7, username: value, email: value },
        { at: NOW, from: "", owed: [value, value] },
      ),
  },
  {
    ...{ name: "lockedByYou", to: "user", pages: [], without: [] },
    make: (site, value) => request.lockedByYou(site, user(value), { at: NOW, from: value, owed: [] }),
  },
  {
    ...{ name: "extensionRequested", to: "administrators", pages: ["/admin/applications"], without: [] },
    make: (site, value) => request.extensionRequested(site, { ...application(value), id: 7, days: 30 }),
  },
  {
    ...{ name: "requestsReceived", to: "administrators", pages: ["/admin/applications"], without: [] },
    make: (site, value) =>
      request.requestsReceived(site, {
        ...{ total: 3, extensions: 1 },
        items: [null, 30].map((days) => ({ ...application(value), days })),
      }),
  },
  {
    ...{ name: "extensionRejected", to: "user", pages: ["/me"], without: [] },
    make: (site, value) => request.extensionRejected(site, { username: value, reason: value, expireAt: END }),
  },
  {
    ...{ name: "extensionRejected, deleted", to: "user", pages: [], without: [] },
    make: (site, value) => request.extensionRejected(site, { username: value, reason: value, expireAt: undefined }),
  },
  {
    ...{ name: "accessRequested", to: "administrators", pages: ["/admin/applications"], without: [] },
    make: (site, value) => access.accessRequested(site, accessRequest(value)),
  },
  {
    ...{ name: "accessAsked", to: "sponsor", pages: ["/decide#VALUE"], without: [] },
    make: (site, value) => access.accessAsked(site, [accessRequest(value)], { token: value, expiresAt: END }),
  },
  {
    ...{ name: "accessAsked, for several", to: "sponsor", pages: ["/decide#VALUE"], without: [] },
    make: (site, value) =>
      access.accessAsked(site, [accessRequest(value), accessRequest("bob")], { token: value, expiresAt: END }),
  },
  {
    ...{ name: "accessAllowed", to: "user", pages: [], without: [] },
    make: (site, value) => access.accessAllowed(site, user(value), { until: END, hosts: [value, "web1"] }),
  },
  {
    ...{ name: "accessRefused", to: "user", pages: ["/me"], without: [] },
    make: (site, value) => access.accessRefused(site, { username: value, reason: `No: ${value}` }),
  },
  {
    ...{ name: "accessUnanswered", to: "user", pages: ["/me"], without: [] },
    make: (site, value) => access.accessUnanswered(site, { username: value, hours: 4 }),
  },
  {
    ...{ name: "adminInvited", to: "administrators", pages: ["/reset#VALUE"], without: [] },
    make: (site, value) =>
      invited.adminInvited(site, { username: value, role: "operator", token: value, ttl: 72 * HOUR, by: value }),
  },
  {
    ...{ name: "adminAddressRemoved", to: "administrators", pages: [], without: [] },
    make: (site, value) => invited.adminAddressRemoved(site, { username: value, at: NOW, by: value }),
  },
  {
    ...{ name: "adminAddressSet", to: "administrators", pages: [], without: [] },
    make: (site, value) => invited.adminAddressSet(site, { username: value, at: NOW, by: value }),
  },
  {
    ...{ name: "testMail", to: "administrators", pages: [], without: [] },
    make: (site, value) => invited.testMail(site, { at: NOW, by: value }),
  },
  {
    ...{ name: "factorsAdded", to: "administrators", pages: ["/admin/account"], without: [] },
    make: (site, value) => factors.factorsAdded(site, factor(value)),
  },
  {
    ...{ name: "factorsRemoved, at the shell", to: "administrators", pages: ["/admin/account"], without: [] },
    make: (site, value) => factors.factorsRemoved(site, { ...factor(value), from: "" }),
  },
  {
    ...{ name: "counterWentBack", to: "administrators", pages: ["/admin/account"], without: [] },
    make: (site, value) => factors.counterWentBack(site, { username: value, name: value, at: NOW, from: "192.0.2.1" }),
  },
  {
    ...{ name: "codesGuessed", to: "administrators", pages: ["/admin/account"], without: [] },
    make: (site, value) => factors.codesGuessed(site, { username: value, at: NOW, from: "192.0.2.1" }),
  },
  {
    ...{ name: "inactiveSoon", to: "user", pages: ["/login"], without: [] },
    make: (site, value) => inactivity.inactiveSoon(site, { username: value }, { since: NOW, endsAt: END }),
  },
  {
    ...{ name: "reviewStarted", to: "administrators", pages: ["/admin/reviews/7"], without: [] },
    make: (site, value) => reviews.reviewStarted(site, { ...review(value), total: 3 }),
  },
  {
    ...{ name: "reviewReminder", to: "administrators", pages: ["/admin/reviews/7"], without: [] },
    make: (site, value) => reviews.reviewReminder(site, { ...review(value), disables: false, open: 1, days: 1 }),
  },
  {
    ...{ name: "reviewAsked", to: "sponsor", pages: ["/decide#VALUE"], without: [] },
    make: (site, value) =>
      reviews.reviewAsked(site, { ...review(value), names: [value] }, { token: value, expiresAt: END }),
  },
  {
    ...{ name: "reviewEnded", to: "sponsor", pages: [], without: [] },
    make: (site, value) => reviews.reviewEnded(site, { names: [value, value] }),
  },
  {
    ...{ name: "vouchAsked", to: "sponsor", pages: ["/decide#VALUE"], without: [] },
    make: (site, value) => sponsors.vouchAsked(site, [sponsored(value)], { token: value, expiresAt: END }),
  },
  {
    ...{ name: "vouchAsked, for several", to: "sponsor", pages: ["/decide#VALUE"], without: [] },
    make: (site, value) =>
      sponsors.vouchAsked(site, [sponsored(value), sponsored("bob")], { token: value, expiresAt: END }),
  },
  {
    ...{ name: "sponsoring", to: "sponsor", pages: ["/decide#VALUE"], without: [] },
    make: (site, value) => sponsors.sponsoring(site, [sponsored(value)], { token: value, expiresAt: END }),
  },
  {
    ...{ name: "sponsoring, of many", to: "sponsor", pages: ["/decide#VALUE"], without: [] },
    make: (site, value) =>
      sponsors.sponsoring(site, [sponsored(value), ...Array.from({ length: 29 }, () => sponsored("bob"))], {
        token: value,
        expiresAt: END,
      }),
  },
  {
    ...{ name: "sponsoredEnds", to: "sponsor", pages: ["/decide#VALUE"], without: [] },
    make: (site, value) =>
      sponsors.sponsoredEnds(site, sponsored(value), {
        soon: "in 7 days",
        question: { token: value, expiresAt: END },
      }),
  },
  {
    ...{ name: "tokenMade", to: "administrators", pages: ["/admin/tokens"], without: [] },
    make: (site, value) => tokens.tokenMade(site, { ...machine(value), at: NOW, by: value, from: "192.0.2.1" }),
  },
  {
    ...{ name: "tokenMade, at the shell, for anywhere", to: "administrators", pages: ["/admin/tokens"], without: [] },
    make: (site, value) => tokens.tokenMade(site, { ...machine(value), networks: [], at: NOW, by: value, from: "" }),
  },
  {
    ...{ name: "contractEnds", to: "user", pages: [], without: [] },
    make: (site, value) =>
      companies.contractEnds(site, { company: value, users: 3, contractEnd: END, username: value }, NOW),
  },
  {
    ...{ name: "contractEnds, to the sponsor", to: "sponsor", pages: [], without: [] },
    make: (site, value) =>
      companies.contractEnds(site, { company: value, users: 3, contractEnd: END, username: null }, NOW),
  },
  {
    ...{ name: "tokenEnds", to: "administrators", pages: ["/admin/tokens"], without: [] },
    make: (site, value) => tokens.tokenEnds(site, machine(value)),
  },
  {
    ...{ name: "webhookSwitchedOff", to: "administrators", pages: ["/admin/webhooks"], without: [] },
    make: (site, value) => hooks.webhookSwitchedOff(site, { id: 7, origin: value, since: NOW, error: value }),
  },
];

/** The links of a letter to that value, behind the origin. */
export function linksOf({ pages, without }: LetterCase, site: SiteWithKeys, value: string): readonly string[] {
  return (site.console ? pages : without).map((link) => link.replaceAll("VALUE", token(value)));
}

/** Somebody whom a sponsor answers for; a name that is empty would leave out its line. */
function sponsored(value: string): sponsors.SponsoredUser {
  return { username: value, email: value, fullName: `Ann ${value}`, purpose: value, expireAt: END };
}
