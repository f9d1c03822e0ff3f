/** The systemd unit, for both modes. */

import {
  centralKeyDirectory,
  ENVIRONMENT_FILE,
  HEAP_GROWTH,
  type InstallSettings,
  KEPT_JOBS_DIRECTORY,
  LIMITS_FILE,
  programPath,
} from "./settings.ts";

type UnitSettings = Pick<InstallSettings, "mode" | "source" | "homeBase" | "authorizedKeysFile">;

/** The paths that stay read-only although useradd(8) needs a writable /etc: writing these files could run code or gain rights. */
const PROTECTED = [
  ...["/etc/ssh", "/etc/sudoers", "/etc/sudoers.d", "/etc/pam.d", "/etc/security", "/etc/systemd", "/etc/init.d"],
  ...["/etc/cron.d", "/etc/crontab", "/etc/cron.hourly", "/etc/cron.daily", "/etc/cron.weekly", "/etc/cron.monthly"],
  ...["/etc/profile", "/etc/profile.d", "/etc/bash.bashrc", "/etc/environment", "/etc/default", "/etc/apt"],
  ...["/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/ld.so.preload", "/etc/udev", "/etc/modprobe.d", "/etc/uam"],
];

/** The text of uam.service. */
export function renderUnit(settings: UnitSettings): string {
  return [...head(settings), ...confinement(settings), ...tail()].join("\n");
}

/** The rights that the mode needs on the host, and nothing else: the same for a service and for an agent. */
export function confinement(settings: Omit<UnitSettings, "source">): readonly string[] {
  return settings.mode === "direct" ? direct(settings) : sudo(settings);
}

function head(settings: UnitSettings): readonly string[] {
  return [
    "[Unit]",
    `Description=User Access Management (${settings.mode} mode)`,
    "Documentation=man:uam(1)",
    "After=network-online.target postgresql.service time-sync.target user.slice sys-fs-fuse-connections.mount",
    "Wants=network-online.target",
    "# It is restarted however often it ends: while it is down, no access is taken away.",
    "StartLimitIntervalSec=0",
    "",
    "[Service]",
    "Type=notify",
    "NotifyAccess=main",
    `EnvironmentFile=${ENVIRONMENT_FILE}`,
    "# The runtime inside the program obeys these: they would make it run other code.",
    "UnsetEnvironment=BUN_BE_BUN BUN_OPTIONS",
    ...HEAP_GROWTH,
    `ExecStart=${programPath(settings)} serve`,
    "# Reads the TLS certificate and key again.",
    "ExecReload=/bin/kill -HUP $MAINPID",
    "# On a machine out of processes or memory the runtime aborts: once restarted, it goes on shutting accounts.",
    "Restart=always",
    "RestartSec=2",
    "# Trying again does not repair a broken configuration.",
    "RestartPreventExitStatus=78",
    "# When memory runs out, the processes of accounts are killed first.",
    "OOMScoreAdjust=-900",
    "WatchdogSec=30",
    "# The first start creates the database; one after a power cut recovers it. A migration asks for more time itself.",
    "TimeoutStartSec=5min",
    "# Only the service gets the signal: it lets requests finish (60 s) and then stops its database itself.",
    "KillMode=mixed",
    "TimeoutStopSec=120",
    "# 0711: the database server runs under an account of its own and has to get through.",
    "StateDirectory=uam",
    "StateDirectoryMode=0711",
    "CacheDirectory=uam",
    "CacheDirectoryMode=0711",
    "# Where UAM_AUDIT_STREAM=file:/var/log/uam/… can write.",
    "LogsDirectory=uam",
    "LogsDirectoryMode=0750",
    "RuntimeDirectory=uam",
    "RuntimeDirectoryMode=0711",
    "UMask=0077",
    "# A secret can be a credential of the variable's name, encrypted for this machine (docs/configuration.md):",
    "#LoadCredentialEncrypted=UAM_SMTP_URL:/etc/credstore.encrypted/UAM_SMTP_URL",
    "",
  ];
}

const PRIVATE_TMP = [
  "# It keeps nothing in /tmp, where everybody can put things in its way. Its own /tmp is empty and read-only: a path configured",
  "# there is reported. The socket of a PostgreSQL that keeps it in /tmp (Debian's does not) is not visible in here.",
  "PrivateTmp=yes",
  "ReadOnlyPaths=/tmp /var/tmp",
];

/** Files that end an account's processes without a signal or a fork, and abort a FUSE mount that holds one; cgroups(7), fuse(4). */
const KERNEL_SWITCHES = "-/sys/fs/cgroup/user.slice -/sys/fs/cgroup/unified/user.slice -/sys/fs/fuse/connections";

/** In /srv lie the directories to which profiles confine accounts. */
const SYSTEM_WRITES =
  "-/var/mail -/var/spool/cron -/var/spool/at -/var/spool/cron/atjobs -/var/lib/systemd/linger -/srv";

function writable({ homeBase, authorizedKeysFile }: Omit<UnitSettings, "source">): string {
  const central = centralKeyDirectory(authorizedKeysFile);
  return ["/etc", homeBase, ...(central === undefined ? [] : [central]), SYSTEM_WRITES, `-${KEPT_JOBS_DIRECTORY}`].join(
    " ",
  );
}

function direct(settings: Omit<UnitSettings, "source">): readonly string[] {
  return [
    "# Root, with what useradd(8), userdel(8), kill(2) and writing as root in somebody's home need. Without SYS_PTRACE userdel",
    "# does not see that a user is logged in. For a port below 1024 add CAP_NET_BIND_SERVICE.",
    "CapabilityBoundingSet=CAP_CHOWN CAP_DAC_OVERRIDE CAP_FOWNER CAP_FSETID CAP_KILL CAP_SETUID CAP_SETGID CAP_SYS_RESOURCE CAP_SYS_PTRACE CAP_AUDIT_WRITE",
    "AmbientCapabilities=",
    "NoNewPrivileges=yes",
    "# useradd replaces /etc/passwd by a rename, so all of /etc is writable except what is named below.",
    "ProtectSystem=strict",
    `ReadWritePaths=${writable(settings)}`,
    `ReadOnlyPaths=${PROTECTED.map((path) => `-${path}`).join(" ")}`,
    "InaccessiblePaths=-/root",
    `NoExecPaths=${settings.homeBase} /tmp /var/tmp /dev/shm`,
    "# It works in homes. A FUSE mount that a user left cannot be detached from in here; `uam user delete` in a root shell can do it.",
    "ProtectHome=no",
    ...PRIVATE_TMP,
    "PrivateDevices=yes",
    "DevicePolicy=closed",
    "# Of /sys and the control groups only this is writable: what ends the processes of accounts.",
    `ReadWritePaths=${KERNEL_SWITCHES}`,
    "ProtectKernelTunables=yes",
    "ProtectKernelModules=yes",
    "ProtectKernelLogs=yes",
    "ProtectControlGroups=yes",
    "ProtectClock=yes",
    "ProtectHostname=yes",
    "ProtectProc=invisible",
    "RestrictNamespaces=yes",
    "RestrictRealtime=yes",
    "RestrictSUIDSGID=yes",
    "LockPersonality=yes",
    "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK",
    "SystemCallArchitectures=native",
    "# ~@privileged and ~@resources would break useradd.",
    "SystemCallFilter=@system-service",
    "SystemCallFilter=~@obsolete @cpu-emulation @mount @swap @reboot @raw-io @module @debug @clock",
    "SystemCallErrorNumber=EPERM",
    "# MemoryDenyWriteExecute is left off: the program runs with it, but without its compiler (27 times slower).",
    "",
  ];
}

function sudo(settings: Omit<UnitSettings, "source">): readonly string[] {
  return [
    "User=uam",
    "Group=uam",
    "# sudo(8) must become root, so nothing may be set that implies NoNewPrivileges: no PrivateDevices, ProtectKernel*,",
    "# ProtectClock, ProtectHostname, Restrict*, LockPersonality, SystemCall*. Direct mode is better confined, see",
    "# `systemd-analyze security uam`.",
    "NoNewPrivileges=no",
    "# For what sudo starts; the service itself has none of these.",
    "CapabilityBoundingSet=CAP_CHOWN CAP_DAC_OVERRIDE CAP_FOWNER CAP_FSETID CAP_KILL CAP_SETUID CAP_SETGID CAP_SYS_RESOURCE CAP_SYS_PTRACE CAP_AUDIT_WRITE",
    "ProtectSystem=strict",
    `ReadWritePaths=/run ${writable(settings)}`,
    `ReadOnlyPaths=${PROTECTED.map((path) => `-${path}`).join(" ")}`,
    `NoExecPaths=${settings.homeBase} /tmp /var/tmp /dev/shm`,
    "ProtectHome=no",
    ...PRIVATE_TMP,
    "ProtectControlGroups=yes",
    "DevicePolicy=closed",
    "",
  ];
}

function tail(): readonly string[] {
  return [
    "KeyringMode=private",
    "LimitNOFILE=65536",
    "# A core dump would hold keys and session tokens.",
    "LimitCORE=0",
    "# Its own threads, its database and the commands that it runs; what accounts may start is limited in",
    `# ${LIMITS_FILE}, so that these are left for it.`,
    "TasksMax=1024",
    "",
    "[Install]",
    "WantedBy=multi-user.target",
    "",
  ];
}
