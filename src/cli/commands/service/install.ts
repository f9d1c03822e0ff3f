/** uam install and uam uninstall: the service on a systemd host. */

import { existsSync, readFileSync } from "node:fs";
import { object } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map } from "@optique/core/modifiers";
import { command, option } from "@optique/core/primitives";
import type { Config } from "../../../config/config.ts";
import {
  AGENT_UNIT_FILE,
  CENTRAL_KEY_FILE,
  ENVIRONMENT_FILE,
  type InstallMode,
  KEYS_DIRECTORY,
  programPath,
  SSHD_DROP_IN,
  UNIT_FILE,
} from "../../../install/settings.ts";
import { UamError } from "../../../shared/errors.ts";
import { systemClock } from "../../../shared/time/clock.ts";
import { oneOf } from "../../terminal/arguments.ts";
import {
  type CliEnvironment,
  type Command,
  commandLog,
  EXIT,
  isGiven,
  loadConfig,
} from "../../terminal/environment.ts";
import { carryOut, findSshUnit, programOf } from "./carry-out.ts";
import { sudoersOf } from "./sudoers.ts";

const dryRun = option("--dry-run", { description: message`Print every file and command, and change nothing.` });

export const installCommand = command(
  "install",
  map(
    object({
      mode: option("--mode", oneOf(["direct", "sudo"], "MODE"), {
        description: message`direct: the service runs as root. sudo: it runs as uam, and changes the host through sudo.`,
      }),
      moveKeys: option("--move-keys", {
        description: message`Move the key files of an installation in direct mode out of the homes, where their owners can put a revoked key back. Logins keep working meanwhile.`,
      }),
      dryRun,
    }),
    (input) => (input.moveKeys ? runMoveKeys(input) : runInstall(input)),
  ),
  {
    brief: message`Install the service on this systemd host.`,
    description: message`Creates system accounts, directories, the environment file, the sshd drop-in and the systemd unit, and enables the unit. Safe to repeat, for example after an update; an existing environment file is not changed.`,
  },
);

export const uninstallCommand = command(
  "uninstall",
  map(object({ dryRun }), (input) => runUninstall(input)),
  {
    brief: message`Remove the service from this host.`,
    description: message`Stops the service and removes what uam install created. Data, configuration and accounts stay; the output, with --dry-run too, says where they are, and which accounts can still log in.`,
  },
);

function runInstall(input: { readonly mode: InstallMode; readonly dryRun: boolean }): Command {
  return async (environment) => {
    const config = await loadConfig(environment);
    if (!config.localHost)
      throw new UamError(
        "invalid",
        "uam install sets up the host that it runs on, and UAM_LOCAL_HOST is off: unset it",
      );
    requireNoAgent();
    const { requireModePossible, requireNoAdopted } = await import("../../../install/preflight.ts");
    requireModePossible(input.mode);
    if (input.mode === "sudo") {
      const { adoptedAccounts } = await import("../../../server/compose.ts");
      requireNoAdopted(input.mode, adoptedAccounts(config));
    }
    const { homeBase } = config;
    const { chooseKeyFile, managedAccounts, planInstall } = await import("../../../install/install.ts");
    const isFirst = !existsSync(ENVIRONMENT_FILE) && managedAccounts().length === 0;
    const { checkRange } = await import("../../../install/uids.ts");
    const shared = checkRange(config.uidRange, { isFirst });
    if (shared !== undefined) environment.err(`${shared}.\n`);
    const authorizedKeysFile = chooseKeyFile(input.mode, config.authorizedKeysFile, {
      isFirst,
      isGiven: isGiven(environment, "UAM_AUTHORIZED_KEYS_FILE"),
    });
    const { requireLabels } = await import("../../../install/selinux.ts");
    // An installation that is there goes on working as it did.
    if (!existsSync(UNIT_FILE)) requireLabels(authorizedKeysFile);
    const { processLimit } = await import("../../../install/limits.ts");
    const source = programOf(environment);
    const { copyToReplace, requireNoPackage } = await import("../../../install/other-program.ts");
    requireNoPackage(source);
    const sudoers = input.mode === "sudo" ? await sudoersOf(config, [programPath({ source })]) : undefined;
    const paths = {
      source,
      copyToReplace: copyToReplace(source),
      homeBase,
      authorizedKeysFile,
      sshUnit: findSshUnit(),
      processes: processLimit(),
    };
    const whole = existsSync(UNIT_FILE) ? "do" : "first";
    const how = input.dryRun ? "print" : whole;
    const done = await carryOut(environment, planInstall({ ...paths, mode: input.mode, sudoers }), how);
    if (done) environment.err(nextSteps(programPath({ source })));
    return EXIT.done;
  };
}

/** The agent's accounts are another service's. */
function requireNoAgent(): void {
  if (!existsSync(AGENT_UNIT_FILE)) return;
  throw new UamError(
    "conflict",
    "This host has joined a service elsewhere: uam agent join sets it up, uam agent leave ends that",
  );
}

function runUninstall(input: { readonly dryRun: boolean }): Command {
  return async (environment) => {
    requireNoAgent();
    const { planUninstall } = await import("../../../install/install.ts");
    const { leftAccounts, whatStays } = await import("../../../install/what-stays.ts");
    const left = leftAccounts(systemClock.now());
    const installed = { source: programOf(environment), sshUnit: findSshUnit(), accounts: left.all };
    await carryOut(environment, planUninstall(installed), input.dryRun ? "print" : "do");
    environment.err(whatStays(left, input.dryRun ? "before" : "after"));
    return EXIT.done;
  };
}

/** Safe to repeat, wherever an earlier run stopped. */
function runMoveKeys(input: { readonly mode: InstallMode; readonly dryRun: boolean }): Command {
  return async (environment) => {
    const config = await loadConfig(environment);
    requireMovable(environment, config, input.mode);
    const sshUnit = findSshUnit();
    if (sshUnit === undefined) throw new UamError("invalid", "This host has no systemd unit for sshd");
    const { planMove } = await import("../../../install/move-keys.ts");
    const { processLimit } = await import("../../../install/limits.ts");
    const move = planMove({
      ...{ mode: "direct", source: programOf(environment), homeBase: config.homeBase, sudoers: undefined, sshUnit },
      authorizedKeysFile: config.authorizedKeysFile,
      processes: processLimit(),
      environment: readFileSync(ENVIRONMENT_FILE, "utf8"),
      dropIn: existsSync(SSHD_DROP_IN) ? readFileSync(SSHD_DROP_IN, "utf8") : undefined,
    });
    const begin = [...move.prepare, ...move.change];
    if (input.dryRun) {
      await carryOut(environment, [...begin, ...move.finish], "print");
      return EXIT.done;
    }
    await carryOut(environment, begin, "do");
    if (begin.length > 0) await writeNewFiles(environment, { ...config, authorizedKeysFile: CENTRAL_KEY_FILE });
    await carryOut(environment, move.finish, "do");
    environment.err(`The key files are now in ${KEYS_DIRECTORY}; sshd reads no others for these accounts.\n`);
    return EXIT.done;
  };
}

function requireMovable({ variables, installed = {} }: CliEnvironment, config: Config, mode: InstallMode): void {
  const fail = (why: string): never => {
    throw new UamError("invalid", why);
  };
  if (mode !== "direct" || config.hostMode !== "direct")
    fail(
      "Key files can be outside the homes only in direct mode; in sudo mode they are written as the accounts' owners",
    );
  if (!existsSync(ENVIRONMENT_FILE)) fail("uam is not installed here: run uam install --mode direct");
  if (variables.UAM_AUTHORIZED_KEYS_FILE !== installed.UAM_AUTHORIZED_KEYS_FILE)
    fail(`UAM_AUTHORIZED_KEYS_FILE is set in this shell: unset it, so that ${ENVIRONMENT_FILE} counts`);
  const { authorizedKeysFile: place } = config;
  if (place.startsWith("/") && place !== CENTRAL_KEY_FILE && !place.startsWith(`${config.homeBase}/`))
    fail(`The key files are already outside the homes: UAM_AUTHORIZED_KEYS_FILE is ${place}`);
}

/** Writes the key files that the restarted service has not written yet. Throws `internal` if an open account still has none. */
async function writeNewFiles(environment: CliEnvironment, config: Config): Promise<void> {
  const { openServices } = await import("../../../server/compose.ts");
  const { reconcileHost } = await import("../../../domain/lifecycle/reconcile.ts");
  const { allAccounts } = await import("../../../domain/accounts/account.ts");
  const log = await commandLog(environment, config, true);
  const use = { lifetime: "command", machine: environment.runtime } as const;
  const { services, close } = await openServices(config, log, use);
  try {
    for (const { account, problem, repaired } of await reconcileHost(services, config.dataDir, "repair at once"))
      if (!repaired) environment.err(`${account}: ${problem}\n`);
    const lacking: string[] = [];
    for (const account of await allAccounts(services.db, services.clock.now())) {
      const hasFile = existsSync(CENTRAL_KEY_FILE.replaceAll("%u", account.name));
      if (account.open && !hasFile && (await services.host.presence(account)) === "present") lacking.push(account.name);
    }
    if (lacking.length === 0) return;
    const who = lacking.join(", ");
    throw new UamError(
      "internal",
      `No key file could be written for ${who}; sshd reads both places until you run this again`,
    );
  } finally {
    await close();
  }
}

/** For root; uam switches to the service's user by itself if that is another. */
function nextSteps(program: string): string {
  return `Installed. Next:
  editor ${ENVIRONMENT_FILE}    UAM_BASE_URL, mail, TLS
  systemctl start uam
  ${program} admin add NAME --email ADDRESS
  ${program} doctor
`;
}
