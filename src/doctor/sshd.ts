/** Whether sshd lets external users in by the stored keys, and by nothing else. */

import { existsSync, readFileSync } from "node:fs";
import { findCommand } from "../host/command.ts";
import { readProcesses, sentenceOfUnread } from "../host/processes/processes.ts";
import { listsAgainst, takesKeyAlone } from "../host/sshd/admission.ts";
import { settingsCommand } from "../host/sshd/sshd.ts";
import {
  askedForSettings,
  faultIn,
  parseSshdSettings,
  type Run,
  type SshdSettings,
  valuesOf,
} from "../host/sshd/sshd-settings.ts";
import { REVOKED_KEYS_FILE, SSHD_DROP_IN } from "../install/settings.ts";
import { INCLUDE, renderSshdDropIn } from "../install/sshd-drop-in.ts";
import { hostAccountOf } from "../shared/text/account-name.ts";
import { areaOf, type Finding } from "./finding.ts";
import { checkProfiles } from "./profiles.ts";
import { checkRevokedKeys } from "./revoked-keys.ts";

export interface SshdExpectation {
  /** `UAM_AUTHORIZED_KEYS_FILE`. */
  readonly authorizedKeysFile: string;
  /** The groups of an account, by name. */
  readonly groups: readonly string[];
  /** Whether the drop-in is there as `uam install` writes it; sshd may read it or not. */
  readonly hasDropIn?: boolean;
  /** On an agent's host: the link that is there while the lease lives, and that sshd has to read as its list of revoked keys. */
  readonly leaseLink?: string;
}

const PROBE = hostAccountOf("probe");
const INSTALL = 'run "uam install", which writes /etc/ssh/sshd_config.d/50-uam.conf';
const area = areaOf("sshd");

/** The wanted behaviour of sshd for the accounts. */
export function expectationOf({ authorizedKeysFile, groups }: Omit<SshdExpectation, "leaseLink">): SshdExpectation {
  return { authorizedKeysFile, groups: ["uam-ext", ...groups] };
}

/** Asks the host's sshd for the settings of an account of this service, and checks them; see checkRevokedKeys for `fix`. */
export async function checkSshd(
  expected: SshdExpectation,
  { isRoot, fix, run }: { readonly isRoot: boolean; readonly fix: boolean; readonly run?: Run },
): Promise<readonly Finding[]> {
  if (findCommand("/usr/sbin/sshd") === undefined) {
    return [area.fault("This host has no sshd", "install openssh-server, or run uam where the users log in")];
  }
  if (!isRoot) return [area.skipped("sshd shows its settings only to root; check them with sudo uam doctor, too")];
  const result = await askedForSettings(settingsCommand(PROBE, undefined), run);
  if (result.exitCode !== 0) {
    return [area.fault(`sshd rejects its configuration: ${result.stderr.trim()}`, "correct it; sshd -t checks it")];
  }
  const settings = parseSshdSettings(result.stdout);
  const revokedKeys = valuesOf(settings, "RevokedKeys")[0] ?? "none";
  return [
    ...judgeSshd(settings, { ...expected, hasDropIn: hasDropIn(expected) }),
    ...leaseFaults(revokedKeys, expected.leaseLink),
    // Without a lease the link is missing, as it should be.
    ...(revokedKeys === "none" || (revokedKeys === expected.leaseLink && !existsSync(revokedKeys))
      ? []
      : await checkRevokedKeys(revokedKeys, { owner: 0, own: REVOKED_KEYS_FILE, fix })),
    ...(await checkProfiles()),
    ...penaltyNotes(settings),
    ...processFaults(),
    ...nologin(),
  ];
}

function hasDropIn({ authorizedKeysFile, leaseLink }: SshdExpectation): boolean {
  return (
    existsSync(SSHD_DROP_IN) && readFileSync(SSHD_DROP_IN, "utf8") === renderSshdDropIn(authorizedKeysFile, leaseLink)
  );
}

/** Settings that keep everybody out, or let somebody in without a stored key; one `ok` if there are none. */
export function judgeSshd(settings: SshdSettings, expected: SshdExpectation): readonly Finding[] {
  const value = (name: string) => valuesOf(settings, name)[0] ?? "";
  const fault = faultIn(settings);
  if (fault !== undefined)
    return [area.fault(fault, "upgrade uam, and look at sshd -T until then: nothing of it was checked")];
  const faults = [
    ...keyFileFaults(value("AuthorizedKeysFile"), expected.authorizedKeysFile),
    ...unless(
      value("PubkeyAuthentication") === "yes",
      "sshd accepts no keys from ext_ accounts",
      `PubkeyAuthentication is off: ${INSTALL}`,
    ),
    ...unless(
      value("StrictModes") === "yes",
      "StrictModes is off: sshd reads key files that others can write",
      "set StrictModes yes",
    ),
    ...unless(value("PermitUserRC") === "no", "sshd runs ~/.ssh/rc of external users", INSTALL),
    ...unless(
      takesKeyAlone(settings),
      `AuthenticationMethods requires more than a key of ext_ accounts: ${value("AuthenticationMethods")}`,
      INSTALL,
    ),
    ...unless(
      ["", "none"].includes(value("TrustedUserCAKeys")),
      "sshd also accepts certificates of a CA for ext_ accounts (TrustedUserCAKeys)",
      INSTALL,
    ),
    ...unless(
      ["", "none"].includes(value("AuthorizedKeysCommand")),
      "sshd also asks a program for keys of ext_ accounts (AuthorizedKeysCommand)",
      INSTALL,
    ),
    ...admissionFaults(settings, expected.groups),
  ];
  if (faults.length === 0) return [area.ok("sshd reads the stored keys of ext_ accounts and no others")];
  const unapplied = expected.hasDropIn === true ? faults.filter(({ remedy = "" }) => remedy.includes(INSTALL)) : [];
  if (unapplied.length === 0) return faults;
  // They have one cause, and installing again would not help.
  const what = unapplied.map(({ finding }) => finding).join("; ");
  return [
    area.fault(`sshd does not apply ${SSHD_DROP_IN}: ${what}`, INCLUDE),
    ...faults.filter((fault) => !unapplied.includes(fault)),
  ];
}

/** A note where sshd (9.8 and later) answers refused logins by refusing everybody behind their address, without an exception. */
export function penaltyNotes(settings: SshdSettings): readonly Finding[] {
  const penalties = valuesOf(settings, "PerSourcePenalties")[0] ?? "no";
  const exempt = valuesOf(settings, "PerSourcePenaltyExemptList")[0] ?? "none";
  if (penalties === "no" || exempt !== "none") return [];
  const longest = /(?:^| )max:(\d+)/.exec(penalties)?.[1];
  return [
    area.note(
      `After some refused logins sshd refuses everybody behind that address${longest === undefined ? "" : ` for up to ${longest} s`} (PerSourcePenalties): one expired user's client is enough`,
      "name addresses that many share in PerSourcePenaltyExemptList, outside of any Match, in /etc/ssh/sshd_config: see docs/logins.md",
    ),
  ];
}

function processFaults(): readonly Finding[] {
  const unread = sentenceOfUnread(readProcesses());
  if (unread === undefined) return [];
  return [area.fault(unread, "upgrade uam; until then what takes access away stays owed while they are there")];
}

function leaseFaults(revokedKeys: string, link: string | undefined): readonly Finding[] {
  if (link === undefined || revokedKeys === link) return [];
  return [
    area.fault(`sshd does not hold to the lease: RevokedKeys is ${revokedKeys}`, `set RevokedKeys ${link} for ext_*`),
  ];
}

function keyFileFaults(patterns: string, wanted: string): readonly Finding[] {
  const read = patterns.split(" ").map(fullPattern);
  const others = read.filter((pattern) => pattern !== fullPattern(wanted));
  return [
    ...unless(read.includes(fullPattern(wanted)), `sshd does not read ${wanted}; it reads ${patterns}`, INSTALL),
    ...unless(
      others.length === 0,
      `sshd also reads keys from ${others.join(" ")}, where a revoked key stays valid`,
      INSTALL,
    ),
  ];
}

/** sshd_config(5): a path that is not absolute is relative to the home. */
function fullPattern(pattern: string): string {
  return pattern.startsWith("/") || pattern.startsWith("%h/") ? pattern : `%h/${pattern}`;
}

function admissionFaults(settings: SshdSettings, groups: readonly string[]): readonly Finding[] {
  const marker = groups[0] ?? "";
  const remedies = {
    DenyUsers: "take ext_* out of DenyUsers",
    AllowUsers: "add ext_* to AllowUsers",
    DenyGroups: `take ${marker} out of DenyGroups`,
    AllowGroups: `add ${marker} to AllowGroups`,
  };
  return listsAgainst(settings, { name: PROBE, groups: [PROBE, ...groups] }).map((list) =>
    area.fault(`${list} shuts ext_ accounts out`, `${remedies[list]} in /etc/ssh/sshd_config and its drop-ins`),
  );
}

function nologin(): readonly Finding[] {
  return unless(
    !existsSync("/etc/nologin"),
    "/etc/nologin keeps everybody but root out",
    "remove it when maintenance is over",
  );
}

function unless(good: boolean, finding: string, remedy: string): readonly Finding[] {
  return good ? [] : [area.fault(finding, remedy)];
}
