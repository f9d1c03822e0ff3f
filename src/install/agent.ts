/** The steps that make a host an agent's, and those that end it: the plan of an installation, without a database. */

import { AGENT_DIRECTORY, REVOKED_KEYS_LINK } from "../agent/paths.ts";
import { MARKER_GROUP } from "../host/settings.ts";
import type { HostMode } from "../protocol/host.ts";
import { renderAgentUnit, renderLeaseTimer, renderLeaseUnit } from "./agent-unit.ts";
import { renderAgentEnvironment } from "./environment.ts";
import { KEPT_JOBS_STEP, KEYS_STEP, NO_PROFILES_STEP, profilesSteps, sudoersSteps } from "./install.ts";
import { limitsStep } from "./limits.ts";
import { command, ROOT_FILE, remove, type Step } from "./plan.ts";
import {
  AGENT_ENVIRONMENT_FILE,
  AGENT_UNIT,
  AGENT_UNIT_FILE,
  CENTRAL_KEY_FILE,
  CONFIG_DIRECTORY,
  type InstallSettings,
  LEASE_TIMER,
  LEASE_TIMER_FILE,
  LEASE_UNIT,
  LEASE_UNIT_FILE,
  LIMITS_FILE,
  programPath,
  SERVICE_ACCOUNT,
  SSHD_DROP_IN,
  STATE_DIRECTORY,
  SUDOERS_FILE,
  SYSUSERS_FILE,
} from "./settings.ts";
import { revokedKeysStep, sshdDropInStep } from "./sshd-drop-in.ts";

export interface AgentInstallSettings extends Omit<InstallSettings, "mode" | "sshUnit"> {
  readonly mode: HostMode;
  readonly sshUnit: string;
}

/** The steps before the first contact. From the drop-in on sshd lets no external account in until the service has answered. */
export function planAgent(settings: AgentInstallSettings): readonly Step[] {
  const program = programPath(settings);
  const { mode, authorizedKeysFile } = settings;
  // In sudo mode the agent is not root.
  const group = mode === "sudo" ? SERVICE_ACCOUNT : "root";
  const owner = group;
  const isCentral = authorizedKeysFile === CENTRAL_KEY_FILE;
  return [
    ...(settings.source === program
      ? []
      : [{ ...ROOT_FILE, kind: "copy", mode: 0o755, source: settings.source, path: program } as const]),
    { ...ROOT_FILE, kind: "file", path: SYSUSERS_FILE, content: renderAgentSysusers(mode), keep: false },
    command(["systemd-sysusers", SYSUSERS_FILE]),
    { kind: "directory", path: CONFIG_DIRECTORY, mode: 0o750, owner: "root", group },
    { kind: "directory", path: AGENT_DIRECTORY, mode: 0o700, owner, group },
    KEPT_JOBS_STEP,
    ...(isCentral
      ? [{ kind: "directory", path: STATE_DIRECTORY, mode: 0o711, owner: "root", group: "root" } as const, KEYS_STEP]
      : []),
    {
      ...{ kind: "file", path: AGENT_ENVIRONMENT_FILE, mode: 0o640, owner: "root", group, keep: true },
      content: renderAgentEnvironment(mode, AGENT_DIRECTORY, authorizedKeysFile),
    },
    ...sudoersSteps({ mode: mode === "sudo" ? "sudo" : "direct", sudoers: settings.sudoers }),
    limitsStep(settings.processes),
    revokedKeysStep(),
    ...(mode === "dry-run"
      ? []
      : [
          ...profilesSteps(mode),
          sshdDropInStep(authorizedKeysFile, REVOKED_KEYS_LINK),
          command(["systemctl", "try-reload-or-restart", settings.sshUnit], { when: "changed" }),
        ]),
    { ...ROOT_FILE, kind: "file", path: AGENT_UNIT_FILE, content: renderAgentUnit(settings), keep: false },
    { ...ROOT_FILE, kind: "file", path: LEASE_UNIT_FILE, content: renderLeaseUnit(mode), keep: false },
    { ...ROOT_FILE, kind: "file", path: LEASE_TIMER_FILE, content: renderLeaseTimer(), keep: false },
    command(["systemctl", "daemon-reload"], { when: "changed" }),
    command(["systemctl", "enable", "--now", LEASE_TIMER], { undo: ["systemctl", "disable", "--now", LEASE_TIMER] }),
    command(["systemctl", "enable", LEASE_UNIT], { undo: ["systemctl", "disable", LEASE_UNIT] }),
    command(["systemctl", "enable", AGENT_UNIT], { undo: ["systemctl", "disable", AGENT_UNIT] }),
    ...remove(settings.copyToReplace),
  ];
}

/** Once the service has taken the host. */
export function planAgentStart(): readonly Step[] {
  return [command(["systemctl", "restart", AGENT_UNIT])];
}

/** With another program or unit, on a host that has joined. */
export function planAgentUpdate(): readonly Step[] {
  return [command(["systemctl", "try-restart", AGENT_UNIT])];
}

/** Until it is started again; the lease goes on. */
export function planAgentPause(): readonly Step[] {
  return [command(["systemctl", "stop", AGENT_UNIT], { mayFail: true })];
}

/** The agent stops; the lease ends by itself, and then sshd refuses every external account. */
export function planAgentStop(): readonly Step[] {
  return [command(["systemctl", "disable", "--now", AGENT_UNIT], { mayFail: true })];
}

/**
 * Removes what `planAgent` made. While accounts are left the drop-in stays, since without it their own files would count, and the
 * configuration that removing them needs.
 */
export function planAgentRemoval({
  sshUnit,
  accounts,
}: {
  readonly sshUnit: string | undefined;
  readonly accounts: readonly string[];
}): readonly Step[] {
  const dropIn: readonly Step[] =
    accounts.length > 0
      ? []
      : [
          { kind: "remove", path: AGENT_ENVIRONMENT_FILE },
          { kind: "remove", path: SSHD_DROP_IN },
          NO_PROFILES_STEP,
          ...(sshUnit === undefined
            ? []
            : [command(["systemctl", "try-reload-or-restart", sshUnit], { when: "changed" })]),
        ];
  return [
    command(["systemctl", "disable", "--now", LEASE_TIMER, LEASE_UNIT], { mayFail: true }),
    ...[AGENT_UNIT_FILE, LEASE_UNIT_FILE, LEASE_TIMER_FILE].map((path) => ({ kind: "remove", path }) as const),
    command(["systemctl", "daemon-reload"]),
    { kind: "remove", path: SUDOERS_FILE },
    { kind: "remove", path: SYSUSERS_FILE },
    { kind: "remove", path: LIMITS_FILE },
    ...dropIn,
  ];
}

function renderAgentSysusers(mode: HostMode): string {
  return [
    "# The system accounts of uam, see sysusers.d(5).",
    "# Members of this group are the accounts that uam created; it touches no others.",
    `g ${MARKER_GROUP} -`,
    ...(mode === "sudo"
      ? ["# The agent itself, in sudo mode.", `u ${SERVICE_ACCOUNT} - "User Access Management" ${STATE_DIRECTORY}`]
      : []),
    "",
  ].join("\n");
}
