/** Which of two profiles lets an account do less. Pure. */

import type { HostProfile } from "./profile.ts";

/** How a profile compares with another: what may be done by it is the same, less, more, or neither is in the other. */
export type ProfileOrder = "same" | "narrower" | "wider" | "incomparable";

/** A profile; undefined for none, which lets an account do whatever the host lets any. */
export type Profile = HostProfile | undefined;

/** How the first compares with the second. */
export function compareProfiles(one: Profile, other: Profile): ProfileOrder {
  const [within, around] = [isWithin(one, other), isWithin(other, one)];
  if (within) return around ? "same" : "narrower";
  return around ? "wider" : "incomparable";
}

/** That which lets an account do least; undefined of none at all, and "incomparable" where none is within all others. */
export function narrowestOf(profiles: readonly HostProfile[]): Profile | "incomparable" {
  if (profiles.length === 0) return undefined;
  return profiles.find((one) => profiles.every((other) => isWithin(one, other))) ?? "incomparable";
}

/** Whether all that may be done by the first may be done by the second. */
export function isWithin(one: Profile, other: Profile): boolean {
  if (other === undefined) return one === undefined || !isMoreThanNone(one);
  // No profile gives all that may be done without one: to forward an agent, say.
  if (one === undefined) return false;
  return (
    isWorkWithin(one, other) &&
    areConnectionsWithin(one, other) &&
    (one.idleSeconds ?? Infinity) <= (other.idleSeconds ?? Infinity) &&
    sessionsOf(one) <= sessionsOf(other) &&
    (one.secondFactor === "verified" || other.secondFactor === "none") &&
    (one.attestation === "required" || other.attestation !== "required") &&
    groupsOf(one).every((group) => groupsOf(other).includes(group)) &&
    templatesOf(one).every((template) => templatesOf(other).includes(template))
  );
}

/** Groups, sudo, and more sessions than sshd allows by itself: nobody has them but by a profile. */
function isMoreThanNone(profile: HostProfile): boolean {
  return groupsOf(profile).length + templatesOf(profile).length > 0 || sessionsOf(profile) > SESSIONS;
}

/** Programs and files: a shell runs any program, and reaches the files that its account may. */
function isWorkWithin(one: HostProfile, other: HostProfile): boolean {
  if (other.kind === "shell" || one.kind === "forward") return true;
  if (one.kind !== other.kind) return false;
  if (one.kind === "command") return one.command === other.command;
  const [kept, asked] = [one, other].map(({ umask }) => Number.parseInt(umask ?? "0", 8));
  return (
    one.directory === other.directory &&
    (one.readOnly === true || other.readOnly !== true) &&
    ((kept ?? 0) & (asked ?? 0)) === asked
  );
}

/** What connections may be forwarded to; everything, with what clients and sockets offer, is more than any list. */
function areConnectionsWithin(one: HostProfile, other: HostProfile): boolean {
  const [from, to] = [connectionsOf(one), connectionsOf(other)];
  return to === "all" || (from !== "all" && from.every((target) => to.includes(target)));
}

function connectionsOf({ kind, targets = [], forwarding = false }: HostProfile): readonly string[] | "all" {
  if (kind === "forward") return targets;
  if (kind !== "shell" || forwarding === false) return [];
  return forwarding === true ? "all" : forwarding;
}

/** How many sessions sshd allows in a connection by itself, sshd_config(5). */
const SESSIONS = 10;

function sessionsOf({ kind, maxSessions = SESSIONS }: HostProfile): number {
  return kind === "forward" ? 0 : maxSessions;
}

function groupsOf({ groups = [] }: HostProfile): readonly string[] {
  return groups;
}

function templatesOf({ sudo = [] }: HostProfile): readonly string[] {
  return sudo;
}
