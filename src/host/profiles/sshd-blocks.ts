/**
 * What sshd is told of each profile: one block for the members of its group. The first value that sshd finds of a setting counts, so each
 * block says all that matters, and nothing that follows it gives more. Pure.
 */

import type { HostProfile } from "../../protocol/profile.ts";
import { ACCOUNT_PREFIX } from "../../shared/text/account-name.ts";
import { COMMANDS_DIRECTORY, groupOf, PROFILED_GROUP } from "./names.ts";
import { faultOfProfile } from "./profile-check.ts";

/** A setting of sshd_config(5), and its value as sshd says it when it is asked. */
export interface Setting {
  readonly name: string;
  readonly value: string;
}

/** A profile, and whether its accounts are kept out altogether, because what they would get is not what it says. */
export interface Block {
  readonly profile: HostProfile;
  readonly isShut: boolean;
}

/** Before each block, so that this one file says which profiles are held. */
const MARK = "# profile: ";
/** A variable that nothing reads: sshd has no word for none, and a list here replaces that of the host. */
const NO_VARIABLE = "UAM_NONE";
/** sshd's own default. */
const MAX_SESSIONS = 10;
/** The algorithms whose signatures say that the key's owner was there. */
const VERIFIED = "sk-ssh-ed25519@openssh.com,sk-ecdsa-sha2-nistp256@openssh.com";

/** Nobody gets in: there is no way to prove who they are, and nothing to do. */
const SHUT: readonly Setting[] = settings({
  PubkeyAuthentication: "no",
  PasswordAuthentication: "no",
  KbdInteractiveAuthentication: "no",
  HostbasedAuthentication: "no",
  AuthenticationMethods: "publickey",
  ForceCommand: "/bin/false",
  MaxSessions: "0",
  PermitTTY: "no",
  ...noForwarding(),
});

/** All that sshd has to say for an account that is let in nowhere. */
export function shutSettings(): readonly Setting[] {
  return SHUT;
}

/** The text of the file that sshd includes before its block for all accounts. Throws for a profile that no host can hold. */
export function renderBlocks(blocks: readonly Block[]): string {
  const sorted = blocks.toSorted((one, other) => (one.profile.name < other.profile.name ? -1 : 1));
  return [
    "# Written by uam, which replaces it: what the accounts of each profile may do. A host's own rules belong elsewhere.",
    ...sorted.flatMap(({ profile, isShut }) => [
      "",
      `${MARK}${JSON.stringify({ ...profile, ...(isShut ? { isShut } : {}) })}`,
      matchOf(groupOf(profile.name)),
      ...linesOf(isShut ? SHUT : settingsOf(profile)),
    ]),
    "",
  ].join("\n");
}

/** The block for who has a profile and is in no profile's group, or whose profile is in no file: it lets nobody in. */
export function renderUnprofiled(): string {
  return [matchOf(PROFILED_GROUP), ...linesOf(SHUT), ""].join("\n");
}

/** The blocks that a file has; those that cannot be read, or are of no profile, are left out. */
export function blocksIn(text: string): readonly Block[] {
  return text.split("\n").flatMap((line) => {
    if (!line.startsWith(MARK)) return [];
    try {
      const { isShut = false, ...profile }: HostProfile & { readonly isShut?: boolean } = JSON.parse(
        line.slice(MARK.length),
      );
      return faultOfProfile(profile) === undefined ? [{ profile, isShut }] : [];
    } catch {
      return [];
    }
  });
}

/** All that sshd has to say when it is asked for an account of the profile. Throws for a profile that no host can hold. */
export function settingsOf(profile: HostProfile): readonly Setting[] {
  const fault = faultOfProfile(profile);
  if (fault !== undefined) throw new Error(fault);
  const { kind, idleSeconds, maxSessions = MAX_SESSIONS, banner, secondFactor } = profile;
  return settings({
    PubkeyAuthentication: "yes",
    AuthenticationMethods: "publickey",
    ...(secondFactor === "verified"
      ? { PubkeyAuthOptions: "verify-required", PubkeyAcceptedAlgorithms: VERIFIED }
      : {}),
    PermitTTY: kind === "shell" ? "yes" : "no",
    // Connections that only forward need no session.
    MaxSessions: kind === "forward" ? "0" : String(maxSessions),
    ...forwardingOf(profile),
    ...sessionsOf(profile),
    ...(kind === "shell" ? {} : { AcceptEnv: NO_VARIABLE }),
    ...(idleSeconds === undefined ? {} : { UnusedConnectionTimeout: String(idleSeconds) }),
    ...(banner === undefined ? {} : { Banner: banner }),
  });
}

function sessionsOf({ kind, directory = "", readOnly, umask, command }: HostProfile): Readonly<Record<string, string>> {
  const free = { ForceCommand: "none", ChrootDirectory: "none" };
  switch (kind) {
    case "shell":
      return free;
    case "sftp": {
      const options = [...(readOnly === true ? ["-R"] : []), ...(umask === undefined ? [] : ["-u", umask])];
      return {
        ForceCommand: ["internal-sftp", "-l", "INFO", ...options, "-d", "/%u"].join(" "),
        ChrootDirectory: directory,
      };
    }
    case "forward":
      return { ...free, ForceCommand: "/bin/false" };
    case "command":
      // Programs that look for settings in the home find none that the account's owner wrote; bash reads no file before it.
      return { ...free, ForceCommand: `${COMMANDS_DIRECTORY}/${command}`, SetEnv: "HOME=/ SHLVL=1" };
  }
}

function forwardingOf({ kind, targets = [], forwarding = false }: HostProfile): Readonly<Record<string, string>> {
  if (kind === "forward") return forwardingTo(targets);
  if (kind !== "shell" || forwarding === false) return noForwarding();
  if (forwarding !== true) return forwarding.length === 0 ? noForwarding() : forwardingTo(forwarding);
  return {
    ...noForwarding(),
    DisableForwarding: "no",
    AllowTcpForwarding: "yes",
    AllowStreamLocalForwarding: "yes",
    PermitOpen: "any",
    PermitListen: "any",
    X11Forwarding: "yes",
  };
}

/** Towards these, by connections of the client's (`-L`, `-W`, `-D`), and in no other way. */
function forwardingTo(targets: readonly string[]): Readonly<Record<string, string>> {
  const allowed = { DisableForwarding: "no", AllowTcpForwarding: "local", PermitOpen: targets.join(" ") };
  return { ...noForwarding(), ...allowed };
}

/** In all ways: `DisableForwarding` alone left tunnels open until 10.4. */
function noForwarding(): Readonly<Record<string, string>> {
  return {
    DisableForwarding: "yes",
    AllowTcpForwarding: "no",
    AllowStreamLocalForwarding: "no",
    PermitOpen: "none",
    PermitListen: "none",
    GatewayPorts: "no",
    X11Forwarding: "no",
    PermitTunnel: "no",
    AllowAgentForwarding: "no",
    PermitUserRC: "no",
  };
}

function settings(values: Readonly<Record<string, string>>): readonly Setting[] {
  return Object.entries(values).map(([name, value]) => ({ name, value }));
}

function matchOf(group: string): string {
  return `Match User ${ACCOUNT_PREFIX}* Group ${group}`;
}

function linesOf(all: readonly Setting[]): readonly string[] {
  return all.map(({ name, value }) => `    ${name} ${value}`);
}
