/** The systemd units of an agent's host: the agent, and the timer that holds to the lease without it. */

import { ENFORCER_PERIOD } from "../agent/lease-keeper.ts";
import { AGENT_RUN_DIRECTORY } from "../agent/paths.ts";
import type { HostMode } from "../protocol/host.ts";
import { quotedLeaseScript } from "./lease-script.ts";
import {
  AGENT_ENVIRONMENT_FILE,
  HEAP_GROWTH,
  type InstallSettings,
  LEASE_UNIT,
  LIMITS_FILE,
  programPath,
} from "./settings.ts";
import { confinement } from "./unit.ts";

export interface AgentUnitSettings extends Pick<InstallSettings, "source" | "homeBase" | "authorizedKeysFile"> {
  readonly mode: HostMode;
}

/** The text of uam-agent.service. */
export function renderAgentUnit(settings: AgentUnitSettings): string {
  const { mode } = settings;
  // A dry run changes nothing, and reads what root reads.
  const confined = confinement({ ...settings, mode: mode === "sudo" ? "sudo" : "direct" });
  return [
    "[Unit]",
    `Description=Agent of User Access Management (${mode} mode)`,
    "Documentation=man:uam(1)",
    "After=network-online.target user.slice sys-fs-fuse-connections.mount",
    "Wants=network-online.target uam-agent-lease.timer",
    "# It is restarted however often it ends: while it is down, no access is taken away but by the end of the lease.",
    "StartLimitIntervalSec=0",
    "",
    "[Service]",
    "Type=notify",
    "NotifyAccess=main",
    `EnvironmentFile=${AGENT_ENVIRONMENT_FILE}`,
    "# The runtime inside the program obeys these: they would make it run other code.",
    "UnsetEnvironment=BUN_BE_BUN BUN_OPTIONS",
    ...HEAP_GROWTH,
    `ExecStart=${programPath(settings)} agent run`,
    "Restart=always",
    "RestartSec=2",
    "# Trying again does not repair a broken configuration.",
    "RestartPreventExitStatus=78",
    "# When memory runs out, the processes of accounts are killed first.",
    "OOMScoreAdjust=-900",
    "WatchdogSec=30",
    "# What is under way on the host is finished.",
    "KillMode=mixed",
    "TimeoutStopSec=60",
    "StateDirectory=uam-agent",
    "StateDirectoryMode=0700",
    "# sshd reads the link in here. A restart goes on with the lease that is left; a boot begins without one.",
    "RuntimeDirectory=uam-agent",
    "RuntimeDirectoryMode=0755",
    "RuntimeDirectoryPreserve=yes",
    "UMask=0077",
    "",
    ...confined,
    ...(mode === "sudo" ? [] : ["# It calls the service and listens nowhere.", "SocketBindDeny=any", ""]),
    "KeyringMode=private",
    "# A core dump would hold keys.",
    "LimitCORE=0",
    `# Its own threads and the commands that it runs; what accounts may start is limited in ${LIMITS_FILE}.`,
    "TasksMax=512",
    "",
    "[Install]",
    "WantedBy=multi-user.target",
    "",
  ].join("\n");
}

/** The text of uam-agent-lease.service. In a dry run only the link goes: nothing of an account is touched. */
export function renderLeaseUnit(mode: HostMode): string {
  const jobs = mode === "dry-run" ? "" : ' ""';
  return [
    "[Unit]",
    "Description=End of the lease of uam's agent",
    "Documentation=man:uam(1)",
    "# After a boot there is no lease: what would start programs of accounts finds nothing to start.",
    "Before=cron.service crond.service atd.service systemd-logind.service",
    "",
    "[Service]",
    "Type=oneshot",
    `ExecStart=/bin/sh -c ${quotedLeaseScript()} sh ${AGENT_RUN_DIRECTORY}${jobs}`,
    "# It runs all the time: what is to be said, the agent says.",
    "LogLevelMax=notice",
    "# CAP_FOWNER: the directory of at jobs is neither root's nor theirs.",
    "CapabilityBoundingSet=CAP_DAC_OVERRIDE CAP_FOWNER CAP_KILL CAP_SYS_PTRACE",
    "NoNewPrivileges=yes",
    "OOMScoreAdjust=-900",
    "# The link goes first; ten thousand crontabs take twenty seconds of a processor.",
    "TimeoutStartSec=2min",
    "",
    "[Install]",
    "WantedBy=multi-user.target",
    "",
  ].join("\n");
}

/** The text of uam-agent-lease.timer. */
export function renderLeaseTimer(): string {
  return [
    "[Unit]",
    "Description=End of the lease of uam's agent",
    "Documentation=man:uam(1)",
    "",
    "[Timer]",
    "OnActiveSec=0",
    `OnUnitActiveSec=${ENFORCER_PERIOD}s`,
    "AccuracySec=1s",
    `Unit=${LEASE_UNIT}`,
    "",
    "[Install]",
    "WantedBy=timers.target",
    "",
  ].join("\n");
}
