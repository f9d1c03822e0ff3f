/** uam install and uam uninstall: the service on a systemd host. */

import { existsSync } from "node:fs";
import { object } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map } from "@optique/core/modifiers";
import { command, option } from "@optique/core/primitives";
import { choice } from "@optique/core/valueparser";
import { describePlan, type Step } from "../install/plan.ts";
import {
  CONFIG_DIRECTORY,
  ENVIRONMENT_FILE,
  type InstallMode,
  programPath,
  SERVICE_ACCOUNT,
  STATE_DIRECTORY,
} from "../install/settings.ts";
import { UamError } from "../shared/errors.ts";
import { type CliEnvironment, type Command, EXIT, loadConfig } from "./environment.ts";
import { sudoersOf } from "./sudoers.ts";

const dryRun = option("--dry-run", { description: message`Print every file and command, and change nothing.` });

export const installCommand = command(
  "install",
  map(
    object({
      mode: option("--mode", choice(["direct", "sudo"], { metavar: "MODE" }), {
        description: message`direct: the service runs as root. sudo: it runs as uam, and changes the host through sudo.`,
      }),
      dryRun,
    }),
    (input) => runInstall(input),
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
    description: message`Stops the service and removes what uam install created. Data, configuration and accounts stay; the output says where they are.`,
  },
);

const SSH_UNITS = ["ssh.service", "sshd.service"] as const;
const UNIT_DIRECTORIES = ["/etc/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system"] as const;

function runInstall(input: { readonly mode: InstallMode; readonly dryRun: boolean }): Command {
  return async (environment) => {
    const config = await loadConfig(environment);
    const { homeBase, authorizedKeysFile } = config;
    const { planInstall } = await import("../install/install.ts");
    const source = programOf(environment);
    const sudoers = input.mode === "sudo" ? await sudoersOf(config, [programPath({ source })]) : undefined;
    const paths = { source, homeBase, authorizedKeysFile, sshUnit: findSshUnit() };
    const done = await carryOut(environment, planInstall({ ...paths, mode: input.mode, sudoers }), input.dryRun);
    if (done) environment.err(nextSteps(programPath({ source }), input.mode));
    return EXIT.done;
  };
}

function runUninstall(input: { readonly dryRun: boolean }): Command {
  return async (environment) => {
    const { managedAccounts, planUninstall } = await import("../install/install.ts");
    const accounts = managedAccounts();
    const installed = { source: programOf(environment), sshUnit: findSshUnit(), accounts };
    const done = await carryOut(environment, planUninstall(installed), input.dryRun);
    if (done) environment.err(whatStays(accounts));
    return EXIT.done;
  };
}

function programOf({ program }: CliEnvironment): string {
  if (program !== undefined) return program;
  throw new UamError("invalid", "Only the built program can be installed: run `bun run build`, then dist/uam install");
}

/** True if the plan was carried out, false if it was printed. */
async function carryOut(environment: CliEnvironment, steps: readonly Step[], onlyPrint: boolean): Promise<boolean> {
  if (onlyPrint) {
    environment.out(describePlan(steps));
    return false;
  }
  if (!environment.isRoot) throw new UamError("invalid", "This needs root; --dry-run shows what it would do");
  // sd_booted(3)
  if (!existsSync("/run/systemd/system")) throw new UamError("invalid", "This host does not run systemd");
  const { applyPlan } = await import("../install/apply.ts");
  await applyPlan(steps, {
    root: "",
    report: (step, outcome) =>
      environment.err(`${outcome.padEnd(10)} ${"path" in step ? step.path : step.argv.join(" ")}\n`),
  });
  return true;
}

function findSshUnit(): string | undefined {
  return SSH_UNITS.find((unit) => UNIT_DIRECTORIES.some((directory) => existsSync(`${directory}/${unit}`)));
}

function nextSteps(program: string, mode: InstallMode): string {
  // In sudo mode the rules are for the account of the service, and so is the data.
  const uam = mode === "sudo" ? `sudo -u ${SERVICE_ACCOUNT} ${program}` : program;
  return `Installed. Next:
  editor ${ENVIRONMENT_FILE}    UAM_BASE_URL, mail, TLS
  systemctl start uam
  ${uam} admin add NAME --email ADDRESS
  ${uam} doctor
`;
}

function whatStays(accounts: readonly string[]): string {
  const people =
    accounts.length === 0
      ? "There are no accounts of external users.\n"
      : `These accounts stay as they are, and so does what sshd is told about them: ${accounts.join(", ")}
  Nothing ends them before their expiry date now. To shut one: usermod --expiredate 1 NAME; pkill -KILL -u NAME\n`;
  return `Uninstalled. ${people}The data is in ${STATE_DIRECTORY}, the configuration in ${CONFIG_DIRECTORY}.\n`;
}
