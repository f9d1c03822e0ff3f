import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { archivesWith, CannotFetch, fromFirst, openApt } from "../../../src/build/postgres/apt.ts";
import { fetchSource } from "../../../src/build/postgres/server.ts";
import { BUILD_SUITE, makeTree } from "../../../src/build/postgres/tree.ts";
import { testSlow } from "../../support/thorough.ts";
import { archive, closeArchives, HAS_APT, missing } from "../support/archive.ts";

const top = mkdtempSync(join(tmpdir(), "uam-test-apt-"));
const content = Buffer.alloc(200_000, "postgresql");
const sum = createHash("sha256").update(content).digest("hex");
const POOL = "/pool/main/p/postgresql-18/";
let made = 0;

afterEach(closeArchives);
afterAll(() => rmSync(top, { recursive: true, force: true }));

const whole = (_: string, from: number) => ({
  status: from === 0 ? "200 OK" : "206 Partial Content",
  body: content.subarray(from),
});

function newDirectory(): string {
  const directory = join(top, String(++made));
  mkdirSync(directory);
  return directory;
}

/** Fetches the file of that checksum, called a.tar, with a cache of its own. */
async function fetchFrom(archives: readonly string[]): Promise<{ readonly cache: string; readonly path: string }> {
  const cache = newDirectory();
  const work = join(cache, "work-1");
  mkdirSync(work);
  return { cache, path: await fetchSource({ name: "a.tar", sum }, { work, caches: [cache], archives }) };
}

describe.skipIf(!HAS_APT)("fetchSource()", () => {
  test("takes it from the first archive that has it, and asks no further", async () => {
    const [gone, has, later] = [await archive(missing), await archive(whole), await archive(whole)];
    const { cache, path } = await fetchFrom([gone.url, has.url, later.url]);
    expect(path).toBe(join(cache, "a.tar"));
    expect(readFileSync(path).equals(content)).toBe(true);
    expect([gone.asked, has.asked, later.asked]).toEqual([[`${POOL}a.tar`], [`${POOL}a.tar`], []]);
  });

  test("does not take other bytes under that name, and says what was sought where", async () => {
    const [forged, gone] = [
      await archive(() => ({ status: "200 OK", body: Buffer.from("forged") })),
      await archive(missing),
    ];
    const refused = fetchFrom([forged.url, gone.url]);
    await expect(refused).rejects.toThrow(CannotFetch);
    const { message } = (await refused.catch((error: unknown) => error)) as Error;
    expect(message).toStartWith(
      `a.tar cannot be had; sought in ${forged.url} (Failed to fetch ${forged.url}${POOL}a.tar Hash Sum mismatch`,
    );
    expect(message).toContain(`, then in ${gone.url} (Failed to fetch ${gone.url}${POOL}a.tar 404 Not Found`);
    expect(readdirSync(join(top, String(made)))).toEqual(["work-1"]);
  });

  testSlow("goes on where a connection broke", async () => {
    let broken = 0;
    const breaks = await archive((path, from) => ({ ...whole(path, from), ...(broken++ < 2 ? { part: 50_000 } : {}) }));
    const { path } = await fetchFrom([breaks.url]);
    expect(readFileSync(path).equals(content)).toBe(true);
    expect(breaks.asked).toHaveLength(3);
  });

  testSlow("leaves nothing in the cache if the connection breaks each time", async () => {
    const breaks = await archive((path, from) => ({ ...whole(path, from), part: 10 }));
    await expect(fetchFrom([breaks.url])).rejects.toThrow(CannotFetch);
    expect(readdirSync(join(top, String(made)))).toEqual(["work-1"]);
  });
});

describe.skipIf(!HAS_APT)("makeTree()", () => {
  test("asks one archive after the other, and names suite and archives if none has it", async () => {
    const archives = [await archive(missing), await archive(missing)];
    const urls = archives.map(({ url }) => url);
    const work = newDirectory();
    const refused = makeTree(join(work, "tree"), { work, archives: urls });
    await expect(refused).rejects.toThrow(`Debian's ${BUILD_SUITE} for amd64 cannot be had; sought in ${urls[0]} (`);
    await expect(refused).rejects.toThrow(`does not have a Release file.`);
    await expect(refused).rejects.toThrow(`, then in ${urls[1]} (`);
    for (const { asked } of archives) expect(asked).toContain(`/dists/${BUILD_SUITE}/InRelease`);
    expect(existsSync(join(work, "tree"))).toBe(false);
  });
});

describe.skipIf(!HAS_APT)("openApt()", () => {
  test("does nothing of what the machine has its own apt do besides", async () => {
    const directory = newDirectory();
    const trace = join(directory, "trace");
    const hooks = ["Pre-Invoke", "Post-Invoke", "Post-Invoke-Success"].map(
      (name) => `APT::Update::${name} { "touch ${trace}"; };`,
    );
    writeFileSync(join(directory, "machine.conf"), hooks.join("\n"));
    process.env.APT_CONFIG = join(directory, "machine.conf");
    try {
      const { url } = await archive(missing);
      await expect(openApt(directory, url, [["deb", BUILD_SUITE]])).rejects.toThrow(CannotFetch);
    } finally {
      delete process.env.APT_CONFIG;
    }
    expect(existsSync(trace)).toBe(false);
  });
});

describe("archivesWith()", () => {
  test.skipIf(!HAS_APT)("has each archive once, the machine's own first", () => {
    const [own = "", ...rest] = archivesWith(["http://127.0.0.1/a", "http://127.0.0.1/b"]);
    expect(own).not.toEndWith("/");
    expect(archivesWith([own, ...rest])).toEqual([own, ...rest]);
  });
});

test("fromFirst() passes on what is no matter of an archive", async () => {
  const fetch = () => Promise.reject(new Error("disk"));
  await expect(fromFirst("it", ["http://127.0.0.1/a"], fetch)).rejects.toThrow("disk");
});
