import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bunRuntime } from "../../src/runtime/bun.ts";
import type { ServeOptions } from "../../src/runtime/runtime.ts";

/** Bun checks its own limit of ten seconds every four. */
const PAUSE = 13_000;

function pausing(): Response {
  const letters = ["a", "b"];
  const body = new ReadableStream({
    async pull(controller) {
      if (letters.length === 1) await Bun.sleep(PAUSE);
      controller.enqueue(new TextEncoder().encode(letters.shift()));
      if (letters.length === 0) controller.close();
    },
  });
  return new Response(body);
}

// Slow because it waits: left to CI.
test.if(process.env.UAM_TEST_HOST === "1")(
  "serve() does not cut an answer that pauses, on a unix socket either",
  async () => {
    const directory = mkdtempSync(join(tmpdir(), "uam-runtime-"));
    const path = join(directory, "socket");
    const fetchHeld: ServeOptions["fetch"] = async (_request, _peer, hold) => {
      hold(0);
      return pausing();
    };
    const options = { fetch: fetchHeld };
    const overTcp = await bunRuntime.serve({ ...options, listen: { kind: "tcp", hostname: "127.0.0.1", port: 0 } });
    const overUnix = await bunRuntime.serve({ ...options, listen: { kind: "unix", path } });
    const texts = [fetch(overTcp.address), fetch("http://localhost/", { unix: path })].map(async (response) =>
      (await response).text(),
    );
    expect(await Promise.all(texts)).toEqual(["ab", "ab"]);
    await Promise.all([overTcp.stop(0), overUnix.stop(0)]);
    rmSync(directory, { recursive: true });
  },
  180_000,
);
