/** Checks a host that an agent looks after: what it needs, whether the service answers, and whether both enforcers hold to the lease. */

import { join } from "node:path";
import { watchClock } from "../agent/hours.ts";
import { isAlive, isLinked, type LeaseFiles, momentOf, readLease, secondsLeft } from "../agent/lease.ts";
import { REVOKED_KEYS_LINK } from "../agent/paths.ts";
import { accountOf, givenTo } from "../agent/records.ts";
import { readStatus } from "../agent/status.ts";
import { type AgentIdentity, readGiven, readState } from "../agent/store.ts";
import { endStrays } from "../agent/strays.ts";
import { runCommand } from "../host/command.ts";
import { AGENT_UNIT, LEASE_TIMER } from "../install/settings.ts";
import type { Host } from "../protocol/host.ts";
import { silentLog } from "../shared/log.ts";
import { lockedAccounts, readLocks } from "../shared/system/lock-journal.ts";
import { isSystemdHost } from "../shared/system/systemd.ts";
import { SECOND, systemClock } from "../shared/time/clock.ts";
import { formatDuration } from "../shared/time/duration.ts";
import type { DoctorSettings } from "./doctor.ts";
import { checkOwnersLimits, checkPrivateFile } from "./files.ts";
import { areaOf, type Finding, guarded } from "./finding.ts";
import { checkNeeds } from "./preflight.ts";
import { checkSshd, expectationOf } from "./sshd.ts";
import { checkClock } from "./time.ts";
import { checkGivenUids, checkUidRange, type GivenUid } from "./uids.ts";

export interface AgentExamination {
  readonly config: Pick<
    DoctorSettings,
    "hostMode" | "dataDir" | "authorizedKeysFile" | "groups" | "shell" | "homeBase" | "uidRange"
  >;
  readonly identity: AgentIdentity;
  readonly files: LeaseFiles;
  readonly isRoot: boolean;
  readonly fix: boolean;
  readonly openHost: () => Promise<Host>;
}

/** Checks everything on an agent's host; what cannot be checked is a fault or skipped, and never prevents the other checks. */
export async function examineAgent(examination: AgentExamination): Promise<readonly Finding[]> {
  const { config, identity, isRoot, fix } = examination;
  const isDry = config.hostMode === "dry-run";
  return [
    areaOf("configuration").ok(`The configuration is valid: host ${identity.name} of ${identity.service}`),
    ...(await guarded("data", async () => checkPrivateFile(join(config.dataDir, "agent.key"), fix))),
    ...(await examineHost(config, { isRoot, fix })),
    ...(await guarded("service", async () => checkConnection(examination))),
    ...(isDry ? [] : await guarded("lease", async () => checkLease(examination))),
    ...(isSystemdHost() ? await guarded("agent", checkUnits) : []),
    ...(isDry || !isRoot ? [] : await guarded("accounts", () => checkAccounts(examination))),
    ...(isDry || !isRoot
      ? []
      : await guarded("uids", () => checkGivenUids(givenHere(config.dataDir), config.homeBase))),
    ...(await guarded("clock", checkClock)),
  ];
}

/** The faults of the host itself, for any caller: the agent tells the service, too. */
export async function examineHost(
  config: AgentExamination["config"],
  { isRoot, fix }: { readonly isRoot: boolean; readonly fix: boolean },
): Promise<readonly Finding[]> {
  const expected = { ...expectationOf(config), leaseLink: REVOKED_KEYS_LINK };
  return [
    ...(await guarded("host", async () => checkNeeds(config))),
    ...(config.hostMode === "dry-run" ? [] : await guarded("sshd", () => checkSshd(expected, { isRoot, fix }))),
    ...(config.hostMode === "dry-run" ? [] : await guarded("host", async () => checkOwnersLimits())),
    ...(config.hostMode === "dry-run" ? [] : await guarded("uids", async () => checkUidRange(config.uidRange))),
  ];
}

function checkConnection({ files, identity }: AgentExamination): readonly Finding[] {
  const area = areaOf("service");
  const status = readStatus(files.directory);
  const start = `systemctl status ${AGENT_UNIT}; journalctl -u ${AGENT_UNIT}`;
  if (status === undefined) return [area.fault("The agent has not run since the boot", start)];
  if (status.since === undefined) {
    return [
      area.fault(
        `The agent is not connected to ${identity.service}: ${status.failure ?? "it has not said why"}`,
        start,
      ),
    ];
  }
  return [
    area.ok(`Connected to ${identity.service} since ${status.since}`),
    ...status.problems.map(({ account, kind, text }) =>
      area.fault(account === "" ? text : `${account}: ${text}`, `the service shows it as ${kind}; uam agent status`),
    ),
  ];
}

function checkLease({ files }: AgentExamination): readonly Finding[] {
  const area = areaOf("lease");
  const now = momentOf(systemClock);
  const [lease, hold] = [readLease(files, "lease"), readLease(files, "hold")];
  const living = [lease, hold].filter((each) => each !== undefined && isAlive(each, now));
  const remedy = "uam agent status says why; uam agent hold opens the host without the service";
  if (living.length === 0) return [area.fault("There is no lease: sshd refuses every external account", remedy)];
  if (!isLinked(files)) return [area.fault(`${REVOKED_KEYS_LINK} is missing although the lease lives`, remedy)];
  const left = living.map((each) => (each === undefined ? 0 : (secondsLeft(each, now) ?? Number.POSITIVE_INFINITY)));
  const longest = Math.max(...left);
  if (!Number.isFinite(longest)) {
    return [area.note("The lease has no end: cut off, this host stays open", "give the host a lease at the service")];
  }
  return [area.ok(`The lease lives for ${formatDuration(longest * SECOND)}`)];
}

function givenHere(directory: string): readonly GivenUid[] {
  const state = readState(directory);
  const stored = new Set(state?.records.map(({ uid }) => uid));
  return [...new Set([...givenTo(state), ...readGiven(directory)])].map((uid) => ({ uid, isStored: stored.has(uid) }));
}

async function checkUnits(): Promise<readonly Finding[]> {
  const area = areaOf("agent");
  const findings: Finding[] = [];
  for (const unit of [AGENT_UNIT, LEASE_TIMER]) {
    const { exitCode, stdout } = await runCommand(["/usr/bin/systemctl", "is-active", unit]);
    if (exitCode !== 0) findings.push(area.fault(`${unit} is ${stdout.trim()}`, `systemctl enable --now ${unit}`));
  }
  return findings.length > 0 ? findings : [area.ok("The agent and the timer that holds to the lease are running")];
}

async function checkAccounts({ config, fix, files, openHost }: AgentExamination): Promise<readonly Finding[]> {
  const area = areaOf("accounts");
  const state = readState(config.dataDir);
  if (state === undefined) return [area.skipped("The service has not said yet which accounts there should be")];
  const host = await openHost();
  const locked = lockedAccounts(readLocks(config.dataDir, silentLog));
  const times = watchClock(files.directory, () => momentOf(systemClock)).times();
  const about = { status: state.status, locked, times };
  const accounts = state.records.filter(({ made }) => made).map((record) => accountOf(record, about));
  const drifts = [
    ...(await host.reconcile(accounts, !fix)),
    ...(await endStrays(host, state, { ...about, checkOnly: !fix })),
  ];
  if (drifts.length === 0) return [area.ok("Every account is as the service wants it")];
  return drifts.map(({ account, problem, repaired }) => {
    const finding = account === "" ? problem : `${account}: ${problem}`;
    return repaired ? area.fixed(finding) : area.fault(finding, "the agent repairs each minute what needs no decision");
  });
}
