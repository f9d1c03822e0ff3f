/** The console: what a browser loads, how soon it shows something, how soon a click shows rows, and what it costs the API. */

import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "../../src/build/build.ts";
import { bundleConsole } from "../../src/build/console.ts";
import { ownArchitecture, PROJECT } from "../../src/build/packages.ts";
import { VERSION } from "../../src/shared/version.ts";
import { openBrowser } from "../console/support/chromium.ts";
import { BUDGET, weigh } from "../console/support/weight.ts";
import { BINARY, startService } from "../support/service.ts";
import { describeMachine } from "./bench.ts";
import { benchClicks } from "./console-clicks.ts";
import { firstPaints } from "./console-paints.ts";
import { lighthouse } from "./lighthouse.ts";
import { measure } from "./load.ts";
import type { BenchOptions } from "./options.ts";
import { prepare } from "./requests.ts";

const ROUNDS = 7;

/** Prints each figure beside its aim. */
export async function benchConsole(options: BenchOptions): Promise<void> {
  console.log(`\n## The console\n\n${describeMachine()}`);
  const bundle = await bundleConsole();
  for (const [part, bytes] of Object.entries(weigh(bundle))) {
    say(`${part}, brotli`, `${kB(bytes)} kB`, `at most ${kB(BUDGET[part as keyof typeof BUDGET])} kB`);
  }
  await growth();
  const directory = mkdtempSync(join(tmpdir(), "uam-bench-"));
  const browser = await openBrowser();
  try {
    const service = await startService(directory, { UAM_LOG_LEVEL: "warn" });
    // Without an administrator the first page is another one, for once.
    await prepare(service);
    for (const { page, network, painted, usable } of await firstPaints(browser, service.origin)) {
      const aim = network === "loopback" ? "0.3 s" : "1.2 s";
      say(`${page}, ${network}`, `first paint ${inSeconds(painted)} s, usable ${inSeconds(usable)} s`, aim);
    }
    for (const page of ["/", "/apply", "/login"]) {
      say(`Lighthouse, ${page}`, await lighthouse(`${service.origin}${page}`), "98, 100, 100");
    }
    await service.stop();
    await benchClicks(browser, options);
  } finally {
    await browser.close();
    rmSync(directory, { recursive: true, force: true });
  }
  await cost();
}

/** The same binary with an empty bundle, compiled for nothing else. */
async function growth(): Promise<void> {
  const cache = join(PROJECT, "dist/cache");
  const outfile = join(cache, "uam-without-console");
  const without = await build({
    ...{
      architecture: ownArchitecture(),
      postgres: "source",
      version: VERSION,
      entry: join(PROJECT, "src/main.ts"),
      outfile,
      cache,
    },
    level: 19,
    console: { page: "", files: {} },
  });
  rmSync(outfile);
  say("binary", `+ ${((statSync(BINARY).size - without) / 1e6).toFixed(2)} MB`, "at most + 0.7 MB");
}

/** The API of two services, one of which serves no pages, in turns. */
async function cost(): Promise<void> {
  const directories = [mkdtempSync(join(tmpdir(), "uam-bench-")), mkdtempSync(join(tmpdir(), "uam-bench-"))] as const;
  const log = { UAM_LOG_LEVEL: "warn" };
  const services = [
    await startService(directories[0], log),
    await startService(directories[1], { ...log, UAM_CONSOLE: "off" }),
  ] as const;
  try {
    const figures = measure(
      {
        with: { ...services[0], cookies: [await prepare(services[0])] },
        without: { ...services[1], cookies: [await prepare(services[1])] },
      },
      { rounds: ROUNDS },
    );
    for (const [name, { rate, p99, cpu }] of Object.entries(figures)) {
      say(
        `GET /me/keys ${name} console`,
        `${Math.round(rate)} requests/s, p99 ${p99.toFixed(1)} ms, ${cpu.toFixed(0)} us`,
      );
    }
    const { with: on, without: off } = figures;
    say(
      "the API with the console",
      `${(on.rate / off.rate).toFixed(3)} of the rate, ${(on.cpu / off.cpu).toFixed(3)} of the CPU`,
      "0.98",
    );
  } finally {
    for (const service of services) await service.stop();
    for (const directory of directories) rmSync(directory, { recursive: true, force: true });
  }
}

function say(what: string, value: string, aim?: string): void {
  console.log(`${what.padEnd(36)} ${value}${aim === undefined ? "" : ` (aim ${aim})`}`);
}

function kB(bytes: number): string {
  return (bytes / 1000).toFixed(1);
}

function inSeconds(milliseconds: number): string {
  return (milliseconds / 1000).toFixed(2);
}
