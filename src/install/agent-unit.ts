/** The systemd units of an agent's host: the agent, and the timer that holds to the lease without it. */

import { ENFORCER_PERIOD } from "../agent/lease-keeper.ts";
import { AGENT_RUN_DIRECTORY } from "../agent/paths.ts";
import { MARKER_GROUP } from "../host/settings.ts";
import type { HostMode } from "../protocol/host.ts";
import { ACCOUNT_PREFIX } from "../shared/account-name.ts";
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

/**
 * Shuts the host where its lease has ended; for sh(1), with the directory of the lease's files as its argument. It needs neither the
 * agent nor the service. Whatever it cannot read counts as ended.
 */
export const LEASE_SCRIPT = [
  'cd "$1" 2>/dev/null || exit 0',
  "read -r up rest </proc/uptime",
  'up=$(echo "$up" | cut -d. -f1)',
  "now=$(date +%s)",
  "ends=",
  "for file in lease hold; do",
  'boot= wall= how=; [ -f "$file" ] && read -r boot wall how <"$file"',
  'case "$boot" in ""|*[!0-9]*) continue;; esac',
  'case "$wall" in ""|*[!0-9]*) continue;; esac',
  '[ "$up" -lt "$boot" ] && [ "$now" -lt "$wall" ] && exit 0',
  '[ "$file" = lease ] && ends=$how',
  "done",
  "rm -rf revoked-keys",
  '[ "$ends" = sessions ] || exit 0',
  `getent group ${MARKER_GROUP} | cut -d: -f4 | tr , "\\n" | while read -r name; do`,
  `case "$name" in ${ACCOUNT_PREFIX}*) ;; *) continue;; esac`,
  'uid=$(id -u "$name") && [ "$uid" -ge 1000 ] && pkill -KILL -U "$uid"',
  "done",
  "exit 0",
].join("\n");

/** The text of uam-agent-lease.service. */
export function renderLeaseUnit(): string {
  // systemd.service(5): within single quotes only % and $ mean something, and a line ends where it ends.
  const script = LEASE_SCRIPT.replaceAll("%", "%%")
    .replaceAll("$", "$$$$")
    .replaceAll("\\", "\\\\")
    .replaceAll("\n", "; ");
  return [
    "[Unit]",
    "Description=End of the lease of uam's agent",
    "Documentation=man:uam(1)",
    "",
    "[Service]",
    "Type=oneshot",
    `ExecStart=/bin/sh -c '${joinable(script)}' sh ${AGENT_RUN_DIRECTORY}`,
    "# It runs all the time: what is to be said, the agent says.",
    "LogLevelMax=notice",
    "CapabilityBoundingSet=CAP_DAC_OVERRIDE CAP_KILL CAP_SYS_PTRACE",
    "NoNewPrivileges=yes",
    "OOMScoreAdjust=-900",
    "TimeoutStartSec=10",
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

/** sh(1) takes no semicolon after `do` or `then`. */
function joinable(script: string): string {
  return script.replace(/\b(do|then); /g, "$1 ");
}
