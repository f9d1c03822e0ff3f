/** uam agent join: makes this a host of a service. */

import { existsSync, readFileSync } from "node:fs";
import { openSend } from "../../../agent/client.ts";
import { joinService, meetService, parseJoinLine } from "../../../agent/joining.ts";
import { accountsOf, hostOpener } from "../../../agent/open-host.ts";
import { AGENT_DIRECTORY } from "../../../agent/paths.ts";
import { type AgentIdentity, findIdentity, forgetState, readState, writeState } from "../../../agent/store.ts";
import type { Config } from "../../../config/config.ts";
import { planAgent, planAgentPause, planAgentStart, planAgentUpdate } from "../../../install/agent.ts";
import { chooseKeyFile } from "../../../install/install.ts";
import { processLimit } from "../../../install/limits.ts";
import { copyToReplace, requireNoPackage } from "../../../install/other-program.ts";
import { type PlaceFile, ROOT_FILE, type Step } from "../../../install/plan.ts";
import { requireModePossible } from "../../../install/preflight.ts";
import { requireLabels } from "../../../install/selinux.ts";
import {
  AGENT_ENVIRONMENT_FILE,
  AGENT_UNIT,
  ENVIRONMENT_FILE,
  programPath,
  UNIT_FILE,
} from "../../../install/settings.ts";
import { checkRange } from "../../../install/uids.ts";
import type { HostMode } from "../../../protocol/host.ts";
import { hostSettingsOf } from "../../../server/host-settings.ts";
import { UamError } from "../../../shared/errors.ts";
import { systemClock } from "../../../shared/time/clock.ts";
import { VERSION } from "../../../shared/version.ts";
import { type CliEnvironment, commandLog, EXIT, isGiven, loadConfig } from "../../terminal/environment.ts";
import { carryOut, findSshUnit, programOf } from "../service/carry-out.ts";
import { sudoersOf } from "../service/sudoers.ts";
import { fullHostName, publishedName, requireJoined } from "./agent-host.ts";

export interface JoinInput {
  readonly line: readonly string[];
  readonly mode: HostMode | undefined;
  readonly name: string | undefined;
  readonly ca: string | undefined;
  readonly again: boolean;
  readonly noStart: boolean;
  readonly dryRun: boolean;
}

const CA_FILE = "/etc/uam/agent-ca.pem";

/** The token is spent last but for the start: anything this host lacks is found first. */
export async function joinHost(environment: CliEnvironment, input: JoinInput): Promise<number> {
  if (input.line.length === 0) return await setUpAgain(environment, input);
  const isRead = input.line.length === 1 && input.line[0] === "-";
  const line = parseJoinLine(isRead ? await environment.readStandardInput() : input.line.join(" "));
  const config = await loadConfig(environment);
  requireNoService();
  const before = requireFree(environment, input);
  const mode = modeOf(input, config);
  const steps = await planOf(environment, { ...config, hostMode: mode }, input);
  if (input.dryRun) {
    await carryOut(environment, [...steps, ...(input.noStart ? [] : planAgentStart())], "print");
    return EXIT.done;
  }
  if (!environment.isRoot) throw new UamError("invalid", "This needs root; --dry-run shows what it would do");
  const send = openSend(input.ca);
  const fleetKey = await meetService(line, send);
  const takeBack = await carryOut(environment, steps, before === undefined ? "first" : "do");
  let identity: AgentIdentity;
  try {
    const about = await aboutHost(environment, { ...config, hostMode: mode }, input.name);
    const ca = input.ca === undefined ? undefined : CA_FILE;
    if (before !== undefined) await carryOut(environment, planAgentPause(), "do");
    identity = await joinService({ directory: AGENT_DIRECTORY, line, fleetKey, ca, about, send, clock: systemClock });
  } catch (error) {
    // Still the host that it was.
    if (before === undefined) await takeBack?.();
    else await carryOut(environment, planAgentStart(), "do");
    throw error;
  }
  keepWhatIsKnown(before?.fleet_key === identity.fleet_key);
  environment.err(`This host is ${identity.name} at ${identity.service} (host ${identity.host_id}).\n`);
  if (input.noStart) environment.err(`Start the agent with: systemctl start ${AGENT_UNIT}\n`);
  else await carryOut(environment, planAgentStart(), "do");
  environment.err("uam agent status shows whether it is connected; uam doctor, whether anything is wrong.\n");
  return EXIT.done;
}

/** After an update: the same steps, and the service need not be asked. */
async function setUpAgain(environment: CliEnvironment, input: JoinInput): Promise<number> {
  const { name } = requireJoined(environment);
  const config = await loadConfig(environment);
  requireNoService();
  const steps = await planOf(environment, { ...config, hostMode: modeOf(input, config) }, input);
  const done = await carryOut(environment, [...steps, ...planAgentUpdate()], input.dryRun ? "print" : "do");
  if (done) environment.err(`This host is still ${name}, and its agent is up to date.\n`);
  return EXIT.done;
}

function requireNoService(): void {
  if (existsSync(UNIT_FILE)) {
    throw new UamError("conflict", `This host runs the service itself (${UNIT_FILE}), and is its host "local" already`);
  }
  if (existsSync(ENVIRONMENT_FILE)) {
    throw new UamError(
      "conflict",
      `${ENVIRONMENT_FILE} is left of a service on this host: move it away, then join again`,
    );
  }
}

function requireFree(environment: CliEnvironment, { again, dryRun }: JoinInput) {
  if (!environment.isRoot && dryRun) return undefined;
  const identity = findIdentity(AGENT_DIRECTORY);
  if (identity === undefined || again) return identity;
  const where = `${identity.service} as ${identity.name}`;
  throw new UamError(
    "conflict",
    `This host has joined ${where}: end that with uam agent leave, or join anew with --again`,
  );
}

function modeOf({ mode }: JoinInput, { hostMode }: Config): HostMode {
  if (!existsSync(AGENT_ENVIRONMENT_FILE)) return mode ?? "direct";
  if (mode === undefined || mode === hostMode) return hostMode;
  throw new UamError(
    "conflict",
    `${AGENT_ENVIRONMENT_FILE} says UAM_HOST_MODE=${hostMode}: change it there, then join without --mode`,
  );
}

async function planOf(environment: CliEnvironment, config: Config, { ca }: JoinInput): Promise<readonly Step[]> {
  const sshUnit = findSshUnit();
  if (sshUnit === undefined)
    throw new UamError("invalid", "This host has no systemd unit for sshd: install openssh-server");
  const { hostMode: mode, homeBase } = config;
  requireModePossible(mode);
  const isFirst = !existsSync(AGENT_ENVIRONMENT_FILE) && accountsOf(hostSettingsOf(config).markerGroup).length === 0;
  const shared = checkRange(config.uidRange, { isFirst });
  if (shared !== undefined) environment.err(`${shared}.\n`);
  const isKeyFileGiven = isGiven(environment, "UAM_AUTHORIZED_KEYS_FILE");
  const authorizedKeysFile =
    mode === "dry-run"
      ? config.authorizedKeysFile
      : chooseKeyFile(mode, config.authorizedKeysFile, { isFirst, isGiven: isKeyFileGiven });
  if (mode !== "dry-run" && isFirst) requireLabels(authorizedKeysFile);
  const source = programOf(environment);
  requireNoPackage(source);
  const sudoers =
    mode === "sudo"
      ? await sudoersOf({ ...config, authorizedKeysFile }, [programPath({ source })], { isAgent: true })
      : undefined;
  const paths = { source, copyToReplace: copyToReplace(source), homeBase, authorizedKeysFile, sshUnit };
  const steps = planAgent({ ...paths, mode, sudoers, processes: processLimit() });
  return ca === undefined ? steps : [...steps, certificatesStep(ca)];
}

/** Copied, because the agent cannot read everywhere. */
function certificatesStep(path: string): PlaceFile {
  return { ...ROOT_FILE, kind: "file", path: CA_FILE, content: readFileSync(path, "utf8"), keep: false };
}

async function aboutHost(environment: CliEnvironment, config: Config, name: string | undefined) {
  const log = await commandLog(environment, config, true);
  // Root looks; in sudo mode the agent's own user does the rest.
  const mode = config.hostMode === "sudo" ? "direct" : config.hostMode;
  const host = await hostOpener({ ...hostSettingsOf(config), mode }, log, environment.runtime)("key");
  const full = await fullHostName();
  const { first, last } = config.uidRange;
  return {
    name: name ?? full,
    mode: config.hostMode,
    version: VERSION,
    // The token may name the host: where its own name leads nowhere, the first report says what it is called.
    ssh: { ...(config.sshHost ?? { host: publishedName(full, ""), port: 22 }), host_keys: await host.hostKeys() },
    highest_uid: (await host.highestUid(first, last)) ?? 0,
  };
}

/** At the same service the accounts are still the same; the cursor was another host's. Elsewhere nothing of it counts. */
function keepWhatIsKnown(isSameService: boolean): void {
  const state = readState(AGENT_DIRECTORY);
  if (state !== undefined && isSameService) writeState(AGENT_DIRECTORY, { ...state, cursor: "" });
  else forgetState(AGENT_DIRECTORY);
}
