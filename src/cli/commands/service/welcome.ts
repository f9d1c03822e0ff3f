/** The text `serve` prints once it answers: every command in it works as printed, in any other shell of this host. */

import type { Config } from "../../../config/config.ts";
import { API_ROOT } from "../../../server/api/app.ts";
import { VERSION } from "../../../shared/version.ts";
import { type BroughtPostgres, isNpms } from "../../../store/postgres/postgres-brought.ts";
import type { CliEnvironment } from "../../terminal/environment.ts";
import { shellWord } from "../../terminal/shell-word.ts";

/** The service as it runs now. */
export interface Serving {
  readonly config: Config;
  readonly environment: Pick<CliEnvironment, "variables" | "installed" | "isRoot" | "invocation">;
  /** Where the server listens, as it reports it, e.g. "http://0.0.0.0:8080" or "unix:/run/uam/uam.sock". */
  readonly address: string;
  readonly hasAdmins: boolean;
  /** The command that it would start, or has started. */
  readonly postgres: BroughtPostgres;
}

/** The lines for a newcomer; they depend on the mode and on whether there is an administrator. */
export function welcome({ config, environment, address, hasAdmins, postgres }: Serving): string {
  const { base, options } = reach(config, address);
  const lines = [`uam ${VERSION} answers at ${base}${API_ROOT}/healthz (listening on ${address}).`];
  if (!config.localHost)
    lines.push(
      "UAM_LOCAL_HOST is off: this service manages no host of its own; what is stored changes no account here.",
    );
  else if (config.hostMode === "dry-run")
    lines.push("UAM_HOST_MODE is dry-run: the host is not changed, planned changes are logged.");
  // Another shell's commands would otherwise store users without making their accounts.
  else if (config.hostMode !== environment.installed?.UAM_HOST_MODE)
    lines.push(
      `UAM_HOST_MODE is ${config.hostMode} here only. Give each command the same UAM_ variables: in dry-run mode it is refused.`,
    );
  if (config.databaseUrl === undefined && isNpms(postgres))
    lines.push(
      `The database is npm's PostgreSQL ${postgres.version}, to try out: a release carries a newer ${postgres.version.split(".")[0]}, from source.`,
    );
  if (config.captcha === "off") lines.push("Warning: UAM_CAPTCHA=off accepts any captcha answer.");
  if (!hasAdmins) {
    lines.push(
      `There is no administrator yet. In another terminal${whoAndHow(config, environment)}:`,
      `  ${firstAdminCommand(config, environment)}`,
    );
  }
  // A browser needs the service's own origin; see UAM_BASE_URL.
  if (config.console && !address.startsWith("unix:")) {
    const how = hasAdmins ? "" : ", and log in with the password that admin add printed";
    return `${[...lines, `Open ${config.baseUrl}/ in a browser${how}.`].join("\n")}\n`;
  }
  lines.push(
    "Log in (the password is the one that admin add printed):",
    `  curl ${options}-c cookies.txt -H 'Content-Type: application/json' -d '{"username":"root-admin","password":"..."}' ${base}${API_ROOT}/auth/admin/login`,
  );
  return `${lines.join("\n")}\n`;
}

/** The command that makes the first administrator, true as it is for this data directory in another shell of this host. */
export function firstAdminCommand(config: Config, environment: Serving["environment"]): string {
  const program = [...settings(config, environment), environment.invocation].join(" ");
  return `${program} admin add root-admin --email you@example.org`;
}

/** Where curl(1) finds the service from this host, and the options that it needs. */
function reach({ baseUrl }: Config, address: string): { readonly base: string; readonly options: string } {
  if (address.startsWith("unix:"))
    return { base: "http://localhost", options: `--unix-socket ${shellWord(address.slice(5))} ` };
  const local = address.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:");
  if (!local.startsWith("https:")) return { base: local, options: "" };
  const { host } = new URL(local);
  // The certificate is for the name that people use.
  if (baseUrl.startsWith("https:")) return { base: baseUrl, options: `--connect-to ::${withPort(host)} ` };
  return { base: local, options: "--insecure " };
}

function withPort(host: string): string {
  return /:\d+$/.test(host) ? host : `${host}:443`;
}

/** The variables without which another shell would open another database, or could not write its log. */
function settings(config: Config, { variables, installed = {}, isRoot }: Serving["environment"]): readonly string[] {
  const elsewhere = installed.UAM_DATA_DIR || (isRoot ? "/var/lib/uam" : undefined);
  const files = ["UAM_DATABASE_URL_FILE", "UAM_AUDIT_KEY_FILE"].filter(
    (name) => variables[name] && variables[name] !== installed[name],
  );
  return [
    ...(config.dataDir === elsewhere ? [] : [`UAM_DATA_DIR=${shellWord(config.dataDir)}`]),
    ...files.map((name) => `${name}=${shellWord(variables[name] ?? "")}`),
  ];
}

/** Which user has to run the command, and which secrets it needs that must not be printed. */
function whoAndHow(config: Config, { variables, installed = {}, isRoot }: Serving["environment"]): string {
  // Run as root, uam switches to the service's user by itself.
  const asRoot = isRoot || (config.hostMode === "sudo" && installed.UAM_HOST_MODE === "sudo");
  const secrets = ["UAM_DATABASE_URL", "UAM_AUDIT_KEY"].filter(
    (name) => variables[name] && variables[name] !== installed[name],
  );
  return [
    ...(asRoot ? [", as root"] : []),
    ...(secrets.length === 0 ? [] : [`, with ${secrets.join(" and ")} set as here`]),
  ].join("");
}
