/** uam profile try: what clients can do with a profile on this host, tried. */

import { object } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map, optional } from "@optique/core/modifiers";
import { argument, command, option } from "@optique/core/primitives";
import { string } from "@optique/core/valueparser";
import type { Tried } from "../../../host/profiles/trial/trial.ts";
import type { ProfileState } from "../../../protocol/profile.ts";
import { UamError } from "../../../shared/errors.ts";
import { systemClock } from "../../../shared/time/clock.ts";
import { jsonFlag } from "../../terminal/arguments.ts";
import { offering } from "../../terminal/completion.ts";
import {
  type CliEnvironment,
  type Command,
  commandLog,
  EXIT,
  loadConfig,
  withServices,
} from "../../terminal/environment.ts";
import { printJson, printTable } from "../../terminal/output.ts";
import { refOf } from "../hosts/lease-option.ts";

export const profileTry = command(
  "try",
  map(
    object({
      name: argument(string({ metavar: "PROFILE" }), { description: message`The profile's name.` }),
      host: optional(
        option("--host", offering(string({ metavar: "HOST" }), "hosts"), {
          description: message`Another host: this says whether it holds the profile, by its own word, and what to run there. Nothing is tried from here.`,
        }),
      ),
      json: jsonFlag(),
    }),
    runTry,
  ),
  {
    brief: message`Try on this host what a profile allows, with real clients.`,
    description: message`Makes an account that is gone afterwards, and tries some 36 things with ssh, sftp, scp and others against this host's own sshd. Run it as root on the host itself, also where an agent manages it. The program of a profile that allows one is started several times. Exit code 1 if anything is allowed that should not be, or refused.`,
  },
);

interface Asked {
  readonly name: string;
  readonly host: string | undefined;
  readonly json: boolean;
}

function runTry({ name, host: asked, json }: Asked): Command {
  return async (environment) => {
    const elsewhere = asked === undefined ? undefined : await toldElsewhere(environment, asked, name);
    if (elsewhere !== undefined) throw new UamError("conflict", elsewhere);
    if (!environment.isRoot) throw new UamError("invalid", "This needs root");
    const config = await loadConfig(environment);
    if (config.hostMode !== "direct") throw new UamError("conflict", "Profiles need direct mode: UAM_HOST_MODE=direct");
    const log = await commandLog(environment, config, true);
    const { hostOpener } = await import("../../../agent/open-host.ts");
    const { hostSettingsOf } = await import("../../../server/host-settings.ts");
    const { tryHeldProfile } = await import("../../../host/profiles/trial/throw-away.ts");
    const settings = hostSettingsOf(config);
    const host = await hostOpener(settings, log, environment.runtime)("all");
    return await show(environment, await tryHeldProfile({ host, settings, now: systemClock.now() }, name), json);
  };
}

/**
 * What a further host says of the profile, and how it is tried there: no host makes an account because the service wants to try something. Undefined
 * for the service's own host. Throws `not_found` for a host or a profile that there is not.
 */
async function toldElsewhere(environment: CliEnvironment, host: string, profile: string): Promise<string | undefined> {
  const { getHost } = await import("../../../domain/hosts/hosts.ts");
  const { getProfile } = await import("../../../domain/profiles/profiles.ts");
  const [{ row }, { row: known }] = await withServices(environment, "read", async (context) => {
    return [await getHost(context, refOf(host)), await getProfile(context, refOf(profile))] as const;
  });
  if (row.kind === "local") return undefined;
  const states = JSON.parse(row.profiles ?? "[]") as readonly ProfileState[];
  const state = states.find(({ name }) => name === known.name);
  const said =
    state === undefined
      ? `has not said whether it holds ${known.name}`
      : state.state === "applied"
        ? `says that it holds ${known.name}`
        : `says that it does not hold ${known.name}: ${state.problem}`;
  return `Nothing was tried: only root of ${row.name} can, with uam profile try ${known.name} there. ${row.name} ${said}`;
}

/** Prints what happened, and what of it is not as the profile says. */
export async function show(
  environment: Pick<CliEnvironment, "out" | "err" | "columns">,
  tried: readonly Tried[],
  json: boolean,
): Promise<number> {
  const { isAsSaid } = await import("../../../host/profiles/trial/trial.ts");
  const rows = tried.map((row) => ({ ...row, said: isAsSaid(row) }));
  const wrong = rows.filter(({ said }) => said === false);
  if (json) {
    printJson(
      environment,
      rows.map(({ name, may, seen, said }) => ({ name, may: may ?? null, seen: seenIn(seen), as_said: said ?? null })),
    );
  } else {
    await printTable(
      environment,
      [
        { header: "CLIENTS TRY", value: ({ name }) => name },
        { header: "PROFILE", value: ({ may }) => (may === undefined ? "-" : may ? "allows" : "refuses") },
        { header: "HAPPENED", value: ({ seen }) => seenIn(seen), narrow: "cut" },
        { header: "", value: ({ said }) => (said === false ? "WRONG" : "") },
      ],
      rows,
    );
    const untried = rows.filter(({ said }) => said === undefined).length;
    const right = `${rows.length - untried - wrong.length} as the profile says`;
    environment.out(`\n${right}, ${wrong.length} not, ${untried} not tried.\n`);
  }
  return wrong.length === 0 ? EXIT.done : EXIT.failed;
}

function seenIn(seen: Tried["seen"]): string {
  if (typeof seen === "object") return `not tried: ${seen.untried}`;
  return seen === "happened" ? "yes" : "refused";
}
