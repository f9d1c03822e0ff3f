/** The preview of changing a user: what that does to their access, who is logged in and is ended, and on which hosts. */

import { counted, namedUpTo } from "../../shared/text/counted.ts";
import { formatTimestamp } from "../../shared/time/timestamp.ts";
import { LOCAL_HOST } from "../../store/schema.ts";
import { accessAt, onRequestOf, openUntil } from "../accounts/access-state.ts";
import { accountOf, refOf } from "../accounts/account.ts";
import { requireUser, type User } from "../accounts/find-user.ts";
import { hasToShut, isDue } from "../accounts/hours.ts";
import { closingHostOf, hostOf } from "../accounts/own-host.ts";
import { listUserHosts } from "../hosts/user-hosts.ts";
import type { Context } from "../operation/context.ts";
import type { UserPreview } from "./preview.ts";
import { previewUserProfile } from "./set-profile.ts";
import { fitChanges, requireApart, type UserChanges } from "./user-changes.ts";

/** Names of hosts, and logins, in a sentence. */
const MOST = 20;

const NO_CHANGE = { effects: [], host: [] };

const ALLOWED_BY = {
  self: "a login of theirs opens it",
  sponsor: "their sponsor lets them in",
  review: "whoever decides about applications lets them in",
} as const;

/** A preview, with the user as they would be. */
export interface ChangePreview extends UserPreview {
  readonly user: User;
}

/**
 * Previews `updateUser`, and is refused as it would be. Changes nothing and records nothing; for a moment it keeps the user's company as it is, as the
 * change itself does.
 */
export async function previewUpdate(context: Context, userId: number, changes: UserChanges): Promise<ChangePreview> {
  requireApart(changes);
  const { before, after } = await context.db.transaction(async (tx) => {
    const user = await requireUser(tx, userId);
    const supplied = await fitChanges({ tx, context, record: () => {} }, user, changes);
    return { before: user, after: { ...user, ...supplied } };
  });
  const change = { before, after, now: context.clock.now() };
  const { profile = before.profile } = changes;
  const bound = profile === before.profile ? NO_CHANGE : await previewUserProfile(context, userId, profile);
  const effects = [...rules(change), ...others(change), ...(await atOnce(context, change)), ...bound.effects];
  const { status, expireAt } = after;
  const host = [...(await plannedFor(context, change)), ...bound.host];
  const user = { ...after, profile };
  return { effects: effects.length === 0 ? [unchanged(after)] : effects, host, status, expireAt, user };
}

interface Change {
  readonly before: User;
  readonly after: User;
  readonly now: Date;
}

/** What holds from now on, whatever the time is. */
function rules({ before, after }: Change): readonly string[] {
  const { username: name, hours, companyHours, startsAt } = after;
  const [asked, oldAsked] = [onRequestOf(after), onRequestOf(before)];
  const isOther = hours !== before.hours || companyHours !== before.companyHours;
  const limits = [hours, companyHours].filter((text) => text !== null);
  return [
    ...(startsAt === before.startsAt
      ? []
      : [`Access of ${name} begins ${startsAt ? `at ${moment(startsAt)}` : "at once"}.`]),
    ...(isOther && limits.length === 0 ? [`Access of ${name} is open at any hour.`] : []),
    ...(isOther && limits.length > 0
      ? [`Access of ${name} is open only within ${limits.join(", and within their company's hours, ")}.`]
      : []),
    ...(after.hoursEnd !== before.hoursEnd ? [endings(after)] : []),
    ...(asked === null && oldAsked !== null ? [`${name} need not ask for access any more.`] : []),
    ...(asked !== null && (asked.rule !== oldAsked?.rule || asked.maxHours !== oldAsked.maxHours)
      ? [
          `No key lets ${name} in until they ask, each time: ${ALLOWED_BY[asked.rule]}, for ${counted(asked.maxHours, "hour")} at most.`,
        ]
      : []),
  ];
}

function endings({ hoursEnd }: User): string {
  return hoursEnd === "logins"
    ? "With the hours only logins end: what is open goes on until the end of the account."
    : "With the hours everything ends that runs in the account, sessions too.";
}

/** What else takes something away. */
function others({ before, after }: Change): readonly string[] {
  const { username: name, sourceNetworks: networks, email } = after;
  const from = networks.length === 0 ? "from anywhere" : `only from ${networks.join(", ")}`;
  return [
    ...(networks.join() === before.sourceNetworks.join()
      ? []
      : [`The keys of ${name} work ${from}${networks.length === 0 ? "" : "; SSH sessions from elsewhere end"}.`]),
    ...(email === before.email
      ? []
      : [`Login codes go to ${email} from now on, and sessions of ${name} with this service end.`]),
  ];
}

/** What the change does at this moment. */
async function atOnce(context: Context, change: Change): Promise<readonly string[]> {
  const { before, after, now } = change;
  if (!isDue(after, now)) return [];
  const name = after.username;
  const [was, is] = [accessAt(before, now), accessAt(after, now)];
  if (is.access === "closed") return [];
  if (is.access === "open") {
    const until = openUntil(after, is);
    if (was.access !== "open") return [`${name} can log in from now on, until ${moment(until)}.`];
    const old = openUntil(before, was);
    return until.getTime() === old.getTime()
      ? []
      : [`Access that is open now ends at ${moment(until)}, instead of ${moment(old)}.`];
  }
  if (was.access !== "open" && !ends(change)) return [];
  const when = is.changesAt === null ? "" : ` before ${moment(is.changesAt)}`;
  const shut =
    is.access === "on_request" ? `${name} cannot log in now before asking.` : `${name} cannot log in now${when}.`;
  return [shut, ...(await endingNow(context, change))];
}

/** Who is logged in and is ended, and on which hosts. */
async function endingNow(context: Context, change: Change): Promise<readonly string[]> {
  const { after } = change;
  if (!ends(change)) return ["What is open now goes on until the end of the account."];
  const own = await closingHostOf(context, after);
  const sessions = await own.sessions(refOf(after));
  const logins = sessions.map(({ from, since }) => `from ${from}, since ${moment(since)}`);
  const here =
    sessions.length === 0
      ? "Nobody is logged in with the account on the service's own host."
      : `${counted(sessions.length, "SSH session")} on the service's own host ${sessions.length === 1 ? "ends" : "end"} at once: ${namedUpTo(MOST, logins)}.`;
  const places = await listUserHosts(context, after.id);
  const further = places.filter(({ host }) => host.id !== LOCAL_HOST).map(({ host }) => host.name);
  const there = `What is open on further hosts ends as soon as they have heard of it: ${namedUpTo(MOST, further)}.`;
  return [...(own.mode === "direct" || own.mode === "sudo" ? [here] : []), ...(further.length === 0 ? [] : [there])];
}

/** Whether what runs in the account ends, as `followHours` finds. */
function ends({ after, now }: Change): boolean {
  return isDue(after, now) && hasToShut(after, now);
}

async function plannedFor(context: Context, { before, after, now }: Change): Promise<readonly string[]> {
  if (!isDue(after, now)) return [];
  const own = await closingHostOf(context, after);
  const { access } = accessAt(after, now);
  if (access !== "open" && hasToShut(after, now)) {
    if (accessAt(before, now).access !== "open" && before.hoursEnd === "sessions") return [];
    return await own.planned((planner) => planner.shutAccount(refOf(after)));
  }
  const account = await accountOf(context.db, after, now);
  return account.open ? await hostOf(context, after).planned((planner) => planner.openAccount(account)) : [];
}

function unchanged({ username }: User): string {
  return `${username} keeps the access that they have.`;
}

function moment(time: Date): string {
  return `${formatTimestamp(time).slice(0, 16).replace("T", " ")} UTC`;
}
