/** What goes out of the audit log, and what those who change keys feel of it; with and without in turns, in one run. */

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eq, max, min } from "drizzle-orm";
import { readHead } from "../../src/domain/events/head.ts";
import { createWebhook } from "../../src/domain/events/webhooks.ts";
import { type EventFollower, startEventFollower } from "../../src/server/events/event-follower.ts";
import { createSender } from "../../src/server/events/sender.ts";
import { openStream } from "../../src/server/events/sinks.ts";
import { systemClock } from "../../src/shared/time/clock.ts";
import { openDatabase } from "../../src/store/client.ts";
import { auditStreams, webhooks } from "../../src/store/schema-events.ts";
import { type Client, createTestApp, type TestApp } from "../support/app.ts";
import { freshKey } from "../support/keys.ts";
import { describeRun, openFilled, percentile, seconds, timed } from "./bench.ts";
import type { BenchOptions } from "./options.ts";

const WEBHOOKS = 20;
/** Changes in a row, with or without. */
const BLOCK = 20;
const networks = ["127.0.0.0/8"];

/** Changes before those that are measured. */
const WARM = 14;

/** Milliseconds before each block. */
const PAUSE = 1000;

/** A follower at work, and when the measurement may begin. */
interface Begun extends Pick<EventFollower, "stop"> {
  ready(): Promise<void>;
}

interface Times {
  readonly without: number[];
  readonly with: number[];
}

/** Milliseconds: of each change, and of processor time for a change, of a block. */
type Compared = Readonly<Record<"upload" | "revoke" | "cpu", Times>>;

/** Prints what key changes cost with webhooks and a stream attached, how fast a follower catches up, and what is felt meanwhile. */
export async function benchEvents({ rows, calls }: BenchOptions): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "uam-bench-events-"));
  const receivers = spawn(process.execPath, [join(import.meta.dir, "event-receivers.ts")], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const port = await new Promise<string>((resolve) =>
    receivers.stdout?.once("data", (text) => resolve(String(text).trim())),
  );
  const open = () => createTestApp({ UAM_WEBHOOK_NETWORKS: networks.join(","), UAM_MAX_KEYS: "1000" });
  try {
    const fresh = await open();
    console.log(
      `\n## Key changes with ${WEBHOOKS} webhooks and a stream, ${calls} of each\n\n${await describeRun(fresh)}`,
    );
    for (let index = 0; index < WEBHOOKS; index++) {
      await createWebhook(fresh.system, { url: `http://127.0.0.1:${port}/${index}`, actions: [] });
    }
    report("attached", await compare(fresh, calls, () => follow(fresh, `file:${join(directory, "attached")}`, true)));
    console.log(`delivered ${await (await fetch(`http://127.0.0.1:${port}/taken`)).text()} meanwhile`);
    await fresh.close();

    const long = await openFilled(rows, open);
    console.log(`\n## A stream that is ${rows} records behind\n\n${await describeRun(long)}`);
    // Another address begins with the first record, so that each block is as far behind.
    let blocks = 0;
    report(
      "catching up",
      await compare(long, calls, () => follow(long, `file:${join(directory, `behind-${++blocks}`)}`)),
    );
    const [meanwhile] = await long.db
      .select({ least: min(auditStreams.cursor), most: max(auditStreams.cursor) })
      .from(auditStreams);
    console.log(`written in a block and the pause before it: ${meanwhile?.least} to ${meanwhile?.most} records`);
    const alone = `file:${join(directory, "alone")}`;
    const head = await readHead(long.db);
    const follower = follow(long, alone);
    const time = await timed(async () => {
      for (let cursor = 0; cursor < head; ) {
        await Bun.sleep(50);
        const [row] = await long.db.select().from(auditStreams).where(eq(auditStreams.target, alone));
        cursor = row?.cursor ?? 0;
      }
    });
    await follower.stop();
    console.log(`with nobody writing: ${Math.round((head * 1000) / time)} records/s (${seconds(time)} s)`);
    await createWebhook(long.system, { url: `http://127.0.0.1:${port}/behind`, actions: [] });
    await long.db.update(webhooks).set({ cursor: 0 });
    const delivering = follow(long, alone);
    await Bun.sleep(10_000);
    const [webhook] = await long.db.select().from(webhooks);
    await delivering.stop();
    console.log(`one webhook as far behind, with nobody writing: ${Math.round((webhook?.cursor ?? 0) / 10)} records/s`);
    await long.close();
  } finally {
    receivers.kill();
    rmSync(directory, { recursive: true, force: true });
  }
}

/**
 * Key changes in blocks with a follower and without, in turns and in both orders; each block begins after a pause and some changes
 * that do not count.
 */
async function compare(app: TestApp, calls: number, begin: () => Begun): Promise<Compared> {
  const { client } = await app.user(`bench${Math.random().toString(36).slice(2, 8)}`);
  const times: Compared = {
    upload: { without: [], with: [] },
    revoke: { without: [], with: [] },
    cpu: { without: [], with: [] },
  };
  const uncounted: Compared = {
    upload: { without: [], with: [] },
    revoke: { without: [], with: [] },
    cpu: { without: [], with: [] },
  };
  const block = async (which: keyof Times) => {
    const follower = which === "with" ? begin() : undefined;
    await follower?.ready();
    await Bun.sleep(PAUSE);
    for (let call = 0; call < WARM; call++) await change(client, uncounted, which);
    const before = process.cpuUsage();
    for (let call = 0; call < BLOCK; call++) await change(client, times, which);
    const { user, system } = process.cpuUsage(before);
    times.cpu[which].push((user + system) / 1000 / (2 * BLOCK));
    await follower?.stop();
  };
  for (let done = 0; done < calls; done += 2 * BLOCK) {
    for (const which of ["without", "with", "with", "without"] as const) await block(which);
  }
  return times;
}

async function change(client: Client, times: Compared, which: keyof Times): Promise<void> {
  const key = freshKey();
  let id = 0;
  times.upload[which].push(
    await timed(async () => {
      const made = await client.call("POST", "/me/keys", { name: "bench", public_key: key });
      id = made.body.data.id;
    }),
  );
  times.revoke[which].push(await timed(() => client.call("DELETE", `/me/keys/${id}`)));
}

function report(name: string, times: Compared): void {
  for (const [change_, { without, with: attached }] of Object.entries(times)) {
    const ratio = (share: number) => (percentile(attached, share) / percentile(without, share)).toFixed(3);
    console.log(
      `${change_.padEnd(7)} p50 ${percentile(without, 0.5).toFixed(2)} ms without, ${percentile(attached, 0.5).toFixed(2)} ms ${name}: ${ratio(0.5)} (aim 1.05); p95 ${ratio(0.95)}`,
    );
  }
}

/** Follows as a service does. With `caughtUp` it is ready once everybody has everything that was written without it. */
function follow(app: TestApp, target: string, caughtUp = false): Begun {
  const handle = openDatabase(app.connection, 3);
  const sender = createSender({ networks, clock: systemClock });
  const stream = openStream({ auditStream: target, auditStreamCa: undefined });
  const follower = startEventFollower(app.services, { db: handle.db, sender, stream });
  return {
    ready: async () => {
      const head = await readHead(app.db);
      const least = async () => (await app.db.select({ least: min(webhooks.cursor) }).from(webhooks))[0]?.least ?? head;
      while (caughtUp && (await least()) < head) await Bun.sleep(100);
    },
    stop: async () => {
      await follower.stop();
      await handle.close();
    },
  };
}
