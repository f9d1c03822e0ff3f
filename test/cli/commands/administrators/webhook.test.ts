import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createTestCli, type TestCli } from "../../../support/cli.ts";
import { type Receiver, startReceiver } from "../../../support/receiver.ts";

let cli: TestCli;
let hook: Receiver;

beforeAll(async () => {
  cli = await createTestCli({ UAM_WEBHOOK_NETWORKS: "127.0.0.0/8" });
  hook = await startReceiver();
});
afterAll(async () => {
  await hook.close();
  await cli.close();
});

describe("uam webhook", () => {
  test("create prints the secret once, alone on standard output", async () => {
    const { code, stdout, stderr } = await cli.run(["webhook", "create", hook.url, "--action", "user.create"]);
    expect([code, stderr]).toEqual([0, expect.stringContaining("The webhook has the id 1.")]);
    expect(stdout).toMatch(/^whsec_\S{44}\n$/);
    const { total, items } = await cli.json(["webhook", "list"]);
    expect([total, items[0]]).toEqual([
      1,
      expect.objectContaining({ id: 1, url: hook.url, actions: ["user.create"], status: "active" }),
    ]);
    const record = (await cli.json(["audit", "list", "--action", "webhook.create"])).items[0];
    expect(record).toMatchObject({ actor_type: "cli", resource_type: "webhook", resource_id: "1", result: "success" });
    expect(await cli.json(["webhook", "create", hook.url])).toMatchObject({
      id: 2,
      actions: [],
      secret: expect.any(String),
    });
  });

  test.each([
    [["create", "http://10.0.0.1/"], "10.0.0.1 is not a public address"],
    [["create", "https://x.example/", "--action", "no.such"], "no.such"],
    [["update", "1"], "Say what to change: --url, --action or --status"],
    [["ping", "77"], "There is no webhook 77"],
    [["delete", "77"], "There is no webhook 77"],
    [["deliveries", "77"], "There is no webhook 77"],
    [["redeliver", "1", "77"], "The webhook 1 has no delivery 77"],
  ])("%j is refused", async (args, sentence) => {
    const { code, stderr } = await cli.run(["webhook", ...args]);
    expect([code === 0, stderr]).toEqual([false, expect.stringContaining(sentence)]);
  });

  test("ping delivers from here, and fails if it is not taken; deliveries and redeliver", async () => {
    const good = await cli.run(["webhook", "ping", "1"]);
    expect([good.code, good.stdout]).toEqual([0, expect.stringMatching(/^status +delivered$/m)]);
    hook.answer = 503;
    const bad = await cli.run(["webhook", "ping", "1"]);
    expect([bad.code, bad.stdout]).toEqual([1, expect.stringMatching(/^error +The receiver answered 503$/m)]);
    hook.answer = 200;
    const { total, items } = await cli.json(["webhook", "deliveries", "1"]);
    expect([total, items[0].status, items[1].status]).toEqual([2, "failed", "delivered"]);
    expect((await cli.run(["webhook", "deliveries", "1"])).stdout).toMatch(
      /^ID +TIME +TYPE +MESSAGE +ATTEMPT +STATUS +ERROR/,
    );
    expect(await cli.json(["webhook", "redeliver", "1", String(items[0].id)])).toMatchObject({
      attempt: 2,
      status: "delivered",
    });
  });

  test("update switches it off and on; delete ends it", async () => {
    const off = await cli.run(["webhook", "update", "1", "--status", "disabled", "--action", "any"]);
    expect(off.stdout).toMatch(/^status +disabled$/m);
    expect(off.stdout).toMatch(/^actions +all$/m);
    expect((await cli.json(["webhook", "update", "1", "--status", "active"])).status).toBe("active");
    expect((await cli.run(["webhook", "delete", "1"])).stderr).toBe("The webhook 1 is deleted.\n");
    expect((await cli.run(["webhook", "list"])).stdout).toMatch(/^ID +URL +ACTIONS +STATUS +MADE BY +LAG/);
  });
});

describe("uam audit follow", () => {
  test("prints what is there from a number on, then what is written, until it is stopped", async () => {
    const stopping = Promise.withResolvers<void>();
    const lines: string[] = [];
    const outStream = async (stream: ReadableStream<Uint8Array>) => {
      for await (const chunk of stream) lines.push(...new TextDecoder().decode(chunk).split("\n").slice(0, -1));
    };
    const circumstances = { outStream, untilStopped: () => stopping.promise };
    const following = cli.run(["audit", "follow", "--since", "2", "--json"], circumstances);
    while (lines.length < 2) await Bun.sleep(10);
    const before = lines.length;
    await cli.run(["webhook", "create", "https://later.example.org/"]);
    while (lines.length === before) await Bun.sleep(10);
    stopping.resolve();
    expect((await following).code).toBe(0);
    const ids = lines.map((line) => JSON.parse(line).id);
    expect(ids).toEqual(ids.map((_, index) => index + 2));
    expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({
      action: "webhook.create",
      detail: '{"to":"https://later.example.org","actions":"all"}',
    });
  });

  test("as text it is a line for each, which never drives the terminal", async () => {
    const stopping = Promise.withResolvers<void>();
    const lines: string[] = [];
    const outStream = async (stream: ReadableStream<Uint8Array>) => {
      for await (const chunk of stream) lines.push(...new TextDecoder().decode(chunk).split("\n").slice(0, -1));
    };
    const following = cli.run(["audit", "follow", "--since", "1"], { outStream, untilStopped: () => stopping.promise });
    while (lines.length === 0) await Bun.sleep(10);
    stopping.resolve();
    await following;
    expect(lines[0]).toMatch(/^1 {2}\d{4}-\S+ {2}cli:\S+ {2}webhook\.create {2}webhook 1 {2}success {2}- {2}\{"to":/);
  });
});
