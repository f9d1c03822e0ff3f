/** Captchas and password verifications per second, and whether `/healthz` still answers under such a flood. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createPasswordHasher } from "../../src/domain/auth/administrators/passwords.ts";
import { drawCaptcha } from "../../src/domain/auth/codes/captcha-image.ts";
import { startService } from "../support/service.ts";
import { describeMachine, percentile, timed } from "./bench.ts";

const SECONDS = 10;
/** More than the hasher's queue holds, so that refusals are part of the load. */
const CONNECTIONS = 64;
const BETWEEN_PROBES = 5;
/** How long the bare work is repeated for the floor, one after the other, in milliseconds. */
const FLOOR = 2000;

interface Flood {
  readonly name: string;
  /** The same work without the service around it. */
  readonly bare: () => Promise<unknown>;
  readonly path: string;
  /** The body of a request that was never sent before, as an expression in wrk's Lua; undefined for a GET. */
  readonly body?: string;
  /** The status that shows that the work was done. */
  readonly done: number;
}

/** Prints the rate of each kind of work against the bare work, and the times of `/healthz` meanwhile. Rate limits are off. */
export async function benchFlood(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "uam-bench-"));
  const service = await startService(directory, { UAM_LOG_LEVEL: "error", UAM_RATE_LIMIT: "off" });
  const hasher = createPasswordHasher();
  // Unknown names cost as much as known ones; each request has its own name, because five failures would lock one.
  const body = `string.format('{"username":"n%d","password":"wrong wrong wrong wrong"}', math.random(1e9))`;
  const floods: readonly Flood[] = [
    { name: "captchas", bare: drawCaptcha, path: "/auth/captcha", done: 200 },
    { name: "verifications", bare: () => hasher.verifyDummy("wrong"), path: "/auth/admin/login", body, done: 401 },
  ];
  try {
    console.log(`\n## /healthz under a flood on ${CONNECTIONS} connections, ${SECONDS} s each\n\n${describeMachine()}`);
    const quiet = await probe(service.origin, Bun.sleep(SECONDS * 500));
    console.log(`${"idle".padEnd(14)} ${describeProbe(quiet)}`);
    for (const flood of floods) {
      const floor = await rateOf(flood.bare);
      const load = startLoad(service.origin, flood);
      const times = await probe(service.origin, load);
      const { done, limited, other } = await load;
      if (other > 0) throw new Error(`${flood.path} answered ${other} requests in a way that was not expected`);
      const refused = `${Math.round(limited / SECONDS)} refused/s`;
      const rate = done / SECONDS;
      console.log(
        `${flood.name.padEnd(14)} ${describeProbe(times)}   ${Math.round(rate)} ${flood.name}/s, ${(rate / floor).toFixed(2)} of the bare work; ${refused}`,
      );
    }
  } finally {
    await service.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function rateOf(work: () => Promise<unknown>): Promise<number> {
  await work();
  let count = 0;
  const time = await timed(async () => {
    for (const end = performance.now() + FLOOR; performance.now() < end; count++) await work();
  });
  return (count / time) * 1000;
}

/** The times of `/healthz`, asked over and over until `end`. */
async function probe(origin: string, end: Promise<unknown>): Promise<readonly number[]> {
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  void end.then(over, over);
  const times: number[] = [];
  while (!isOver) {
    times.push(
      await timed(async () => {
        const response = await fetch(`${origin}/api/v1/healthz`);
        if (!response.ok) throw new Error(`/healthz answered ${response.status}`);
        await response.text();
      }),
    );
    await Bun.sleep(BETWEEN_PROBES);
  }
  return times;
}

function describeProbe(times: readonly number[]): string {
  const at = (share: number) => `${percentile(times, share).toFixed(1)} ms`;
  return `/healthz p50 ${at(0.5)}, p99 ${at(0.99)} (aim under 50 ms), longest ${at(1)}`;
}

interface Answers {
  readonly done: number;
  readonly limited: number;
  readonly other: number;
}

/** wrk (Debian package), so that another process makes the load; returns the number of answers of each kind. */
async function startLoad(origin: string, { path, body, done }: Flood): Promise<Answers> {
  const request =
    body === undefined
      ? ""
      : `function request() return wrk.format("POST", nil, { ["Content-Type"] = "application/json" }, ${body}) end`;
  const script = `
    local thread
    done_count, limited_count, other_count = 0, 0, 0
    function setup(given) thread = given end
    function init() math.randomseed(os.time()) end
    ${request}
    function response(status)
      if status == ${done} then done_count = done_count + 1
      elseif status == 429 then limited_count = limited_count + 1
      else other_count = other_count + 1 end
    end
    function done()
      print(string.format("counts %d %d %d", thread:get("done_count"), thread:get("limited_count"), thread:get("other_count")))
    end`;
  const file = join(mkdtempSync(join(tmpdir(), "uam-bench-wrk-")), "load.lua");
  await Bun.write(file, script);
  const args = ["-t1", `-c${CONNECTIONS}`, `-d${SECONDS}s`, "--timeout", "20s", "-s", file, `${origin}/api/v1${path}`];
  const wrk = spawn("wrk", args, { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  wrk.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  const [code] = await once(wrk, "close");
  rmSync(join(file, ".."), { recursive: true });
  const counts = /counts (\d+) (\d+) (\d+)/.exec(text)?.slice(1).map(Number);
  if (code !== 0 || counts === undefined) throw new Error(`wrk ended with ${code}:\n${text}`);
  const [finished = 0, limited = 0, other = 0] = counts;
  return { done: finished, limited, other };
}
