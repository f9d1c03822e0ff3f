/** uam doctor: finds faults of this installation, and says how to fix them. */

import { join } from "node:path";
import { object } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map } from "@optique/core/modifiers";
import { command, option } from "@optique/core/primitives";
import type { AgentIdentity } from "../../../agent/store.ts";
import type { Config, ConfigError } from "../../../config/config.ts";
import { areaOf, type Finding } from "../../../doctor/finding.ts";
import type { Log } from "../../../shared/log.ts";
import { counted } from "../../../shared/text/counted.ts";
import {
  type CliEnvironment,
  type Command,
  commandLog,
  EXIT,
  loadConfig,
  loadConfigOnHost,
} from "../../terminal/environment.ts";
import { printJson, visible } from "../../terminal/output.ts";

export const doctorCommand = command(
  "doctor",
  map(
    object({
      fix: option("--fix", {
        description: message`Repair what needs no decision: accounts that differ, file permissions, a missing list of revoked keys.`,
      }),
      json: option("--json", { description: message`Print the findings as JSON.` }),
    }),
    (input) => runDoctor(input),
  ),
  {
    brief: message`Find what is wrong with this installation, and say what to do.`,
    description: message`Looks at configuration, database, data directory, host mode, accounts, sshd, mail, clock, administrators, the provider of single sign-on, and whether the service is running. Changes nothing without --fix. Exits 1 if anything is wrong.`,
  },
);

function runDoctor({ fix, json }: { readonly fix: boolean; readonly json: boolean }): Command {
  return async (environment) => {
    const findings = withService(environment, await examineHere(environment, fix), fix);
    if (json) printJson(environment, findings);
    else environment.out(findings.map(line).join(""));
    const faults = findings.filter(({ state }) => state === "fault").length;
    const unseen = [...new Set(findings.filter(({ state }) => state === "skipped").map(({ area }) => area))];
    if (!json && unseen.length > 0) environment.err(`Not checked, or only in part: ${unseen.join(", ")}.\n`);
    if (!json) environment.err(faults === 0 ? "Nothing is wrong.\n" : `${counted(faults, "fault")}.\n`);
    return faults === 0 ? EXIT.done : EXIT.failed;
  };
}

async function examineHere(environment: CliEnvironment, fix: boolean): Promise<readonly Finding[]> {
  const { ConfigError: Faulty } = await import("../../../config/config.ts");
  try {
    const config = await loadConfig(environment);
    const log = await commandLog(environment, config, true);
    const { findIdentity } = await import("../../../agent/store.ts");
    const identity = findIdentity(config.dataDir);
    if (identity !== undefined) return await examineAgentHere(environment, { config, log, identity, fix });
    const { openServices, openToLook } = await import("../../../server/compose.ts");
    const { hostSettingsOf } = await import("../../../server/host-settings.ts");
    const { checkSudo } = await import("../../../host/execute/sudo-check.ts");
    const { AUDIT_KEY_FILE } = await import("../../../domain/audit/key.ts");
    const { examine } = await import("../../../doctor/doctor.ts");
    const machine = environment.runtime;
    const open = () =>
      fix ? openServices(config, log, { lifetime: "command", machine }) : openToLook(config, log, machine);
    const sudo =
      config.hostMode === "sudo" ? { checkSudo: () => checkSudo(hostSettingsOf(config), machine.program) } : {};
    const { ENVIRONMENT_FILE: environmentFile } = await import("../../../install/settings.ts");
    const patient = { ...config, auditKeyFile: join(config.dataDir, AUDIT_KEY_FILE), environmentFile };
    const { askService } = await import("./ask-service.ts");
    const { formatListen } = await import("../../../config/listen.ts");
    const { ssoProviderOf } = await import("../administrators/single-sign-on.ts");
    const { systemClock } = await import("../../../shared/time/clock.ts");
    const sso = await ssoProviderOf(config, { clock: systemClock, log });
    return await examine({
      ...{ config: patient, isRoot: environment.isRoot, fix, open, sso, ...sudo },
      service: { address: formatListen(config.listen), ask: () => askService(config) },
    });
  } catch (error) {
    if (!(error instanceof Faulty)) throw error;
    return (await everyFault(environment, error)).faults.map((fault) =>
      areaOf("configuration").fault(fault, "see uam serve --help"),
    );
  }
}

/** Root can check all of it, also where the agent is not root. */
async function examineAgentHere(
  environment: CliEnvironment,
  about: { readonly config: Config; readonly log: Log; readonly identity: AgentIdentity; readonly fix: boolean },
): Promise<readonly Finding[]> {
  const { config, log } = about;
  const { examineAgent } = await import("../../../doctor/agent.ts");
  const { hostOpener } = await import("../../../agent/open-host.ts");
  const { hostSettingsOf } = await import("../../../server/host-settings.ts");
  const { LEASE_FILES } = await import("../../../install/lease-files.ts");
  const mode = environment.isRoot && config.hostMode === "sudo" ? "direct" : config.hostMode;
  const open = hostOpener({ ...hostSettingsOf(config), mode }, log, environment.runtime);
  const { isRoot } = environment;
  return await examineAgent({ ...about, isRoot, files: LEASE_FILES, openHost: () => open("key") });
}

/** The checks that root could not make, made as the service's user. */
function withService(environment: CliEnvironment, own: readonly Finding[], fix: boolean): readonly Finding[] {
  const unseen = new Set(own.filter(({ state }) => state === "skipped").map(({ area }) => area));
  if (environment.runAsService === undefined || unseen.size === 0) return own;
  const text = environment.runAsService(["doctor", "--json", ...(fix ? ["--fix"] : [])]);
  const seen = parseFindings(text);
  if (seen === undefined)
    return [...own, areaOf("service").fault("The service's user cannot run uam doctor", "see journalctl -u uam")];
  return [...own.filter(({ area }) => !unseen.has(area)), ...seen.filter(({ area }) => unseen.has(area))];
}

/** Parses the output of another process, which others may control; undefined unless it is a list of findings. */
function parseFindings(text: string): readonly Finding[] | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  return Array.isArray(value) && value.every(isFinding) ? value : undefined;
}

function isFinding(value: unknown): value is Finding {
  if (typeof value !== "object" || value === null) return false;
  const { area, state, finding, remedy } = value as Readonly<Record<string, unknown>>;
  const isRemedy = remedy === undefined || typeof remedy === "string";
  return [area, state, finding].every((text) => typeof text === "string") && isRemedy;
}

/** The faults, including what the host lacks. */
async function everyFault(environment: CliEnvironment, known: ConfigError): Promise<ConfigError> {
  return await loadConfigOnHost(environment).then(
    () => known,
    (error) => error,
  );
}

/** Findings name what accounts' owners made, and in sudo mode are the words of the service's user. */
function line({ area, state, finding, remedy }: Finding): string {
  const first = `${visible(state).padEnd(8)}${visible(area).padEnd(16)}${visible(finding)}\n`;
  return remedy === undefined ? first : `${first}${" ".repeat(24)}-> ${visible(remedy)}\n`;
}
