import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { printKeptJobs } from "../../../src/cli/commands/users/jobs.ts";
import { forgetJobs, JOBS_KEPT, keepJobs, readKeptJobs } from "../../../src/host/jobs/kept-jobs.ts";
import { type Jobs, MOST, readJobs } from "../../../src/host/jobs/spool.ts";
import { shift } from "../../../src/shared/time/clock.ts";

const base = mkdtempSync(join(tmpdir(), "uam-jobs-"));
const directory = join(base, "kept");
const spools = { crontabs: [join(base, "crontabs")], at: [join(base, "atjobs")], linger: join(base, "linger") };
const [crontabs = "", atJobs = ""] = [...spools.crontabs, ...spools.at];
// Tests that run without root own what they make.
const ACCOUNT = { name: "ext_tjobs", uid: process.geteuid?.() ?? 0 };
const NOW = new Date("2026-11-23T12:00:00Z");
const JOBS: Jobs = { lingering: true, files: [], more: 0 };

afterAll(() => rmSync(base, { recursive: true }));
beforeEach(() => {
  for (const path of [directory, ...spools.crontabs, ...spools.at, spools.linger]) {
    rmSync(path, { recursive: true, force: true });
    if (path !== directory) mkdirSync(path);
  }
});

const keep = (now = NOW) => keepJobs(ACCOUNT, { directory, now, read: (account) => readJobs(account, spools) });
const kept = (now = NOW) => readKeptJobs(ACCOUNT.name, { directory, now });

describe("keepJobs()", () => {
  test("copies crontab, at jobs and lingering; where there is nothing, it makes nothing", async () => {
    expect(await keep()).toBe("none");
    expect(existsSync(directory)).toBe(false);
    writeFileSync(join(crontabs, ACCOUNT.name), "* * * * *\techo 'ü'\n");
    writeFileSync(join(atJobs, "a0000101d0b3f2"), "#!/bin/sh\n");
    writeFileSync(join(spools.linger, ACCOUNT.name), "");
    expect(await keep()).toBe("kept");
    expect(kept()).toMatchObject([
      {
        ...{
          account: ACCOUNT.name,
          uid: ACCOUNT.uid,
          removed_at: "2026-11-23T12:00:00.000Z",
          lingering: true,
          more: 0,
        },
        files: [
          { path: join(crontabs, ACCOUNT.name), encoding: "utf-8", content: "* * * * *\techo 'ü'\n", cut: false },
          { path: join(atJobs, "a0000101d0b3f2"), content: "#!/bin/sh\n", bytes: 10, problem: null },
        ],
      },
    ]);
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(directory)) expect(statSync(join(directory, name)).mode & 0o777).toBe(0o600);
    expect(readKeptJobs("ext_tjob", { directory, now: NOW })).toEqual([]);
  });

  test("follows no link and waits for no FIFO, whether as a file or as the spool itself", async () => {
    const secret = join(base, "secret");
    writeFileSync(secret, "secret");
    symlinkSync(secret, join(crontabs, ACCOUNT.name));
    spawnSync("mkfifo", [join(atJobs, "a1")]);
    mkdirSync(join(atJobs, "a2"));
    expect(await keep()).toBe("none");
    rmSync(crontabs, { recursive: true });
    mkdirSync(join(base, "elsewhere"), { recursive: true });
    writeFileSync(join(base, "elsewhere", ACCOUNT.name), "secret");
    symlinkSync(join(base, "elsewhere"), crontabs);
    expect(await keep()).toBe("none");
    rmSync(crontabs);
    spawnSync("mkfifo", [crontabs]);
    expect(await keep()).toBe("none");
  });

  test("copies no file of another user, and no hard link to one of root's", async () => {
    const other = { name: ACCOUNT.name, uid: ACCOUNT.uid + 1 };
    writeFileSync(join(atJobs, "a1"), "another's");
    const read = () => readJobs(other, spools);
    expect((await read()).files).toEqual([]);
    const roots = join(base, "roots");
    writeFileSync(roots, "root's");
    linkSync(roots, join(crontabs, ACCOUNT.name));
    expect((await read()).files).toEqual([]);
    rmSync(roots);
    // A crontab may be root's own: cron(8) reads it.
    const isRoot = ACCOUNT.uid === 0;
    expect((await read()).files.map(({ content }) => content.toString())).toEqual(isRoot ? ["root's"] : []);
  });

  test("cuts a crontab of 64 MB, takes a number of files and so much in all, and says what is missing", async () => {
    const crontab = join(crontabs, ACCOUNT.name);
    writeFileSync(crontab, "# x\n");
    truncateSync(crontab, 64_000_000);
    for (let index = 0; index < MOST.files + 5; index++) {
      writeFileSync(join(atJobs, `a${index}`), "a".repeat(index < 6 ? MOST.file + 1 : 3));
    }
    await keep();
    const [copy] = kept();
    const [first, ...others] = copy?.files ?? [];
    expect(first).toMatchObject({ bytes: 64_000_000, cut: true, encoding: "base64" });
    expect(Buffer.from(first?.content ?? "", "base64").length).toBe(MOST.file);
    expect([others.length, copy?.more]).toEqual([MOST.files - 1, 6]);
    const lengths = copy?.files.map(({ content, encoding }) => Buffer.from(content, encoding).length) ?? [];
    expect(lengths.reduce((sum, length) => sum + length, 0)).toBe(MOST.all);
    expect(others.filter(({ cut }) => cut).length).toBeGreaterThan(3);
    for (const name of readdirSync(directory)) expect(statSync(join(directory, name)).size).toBeLessThan(4 * MOST.all);
    expect(said()).toContain("\n    only the first 262144 bytes were kept\n");
    expect(said()).toContain("\n  and 6 more files, of which there is no copy\n");
  });

  test("keeps the newest 16 of an account, one of the same moment beside the other", async () => {
    const jobs = async () => JOBS;
    for (let count = 0; count < 20; count++) {
      await keepJobs({ name: "ext_tother", uid: 1 }, { directory, now: NOW, read: jobs });
      await keepJobs(ACCOUNT, { directory, now: shift(NOW, 10 * Math.floor(count / 2)), read: jobs });
    }
    expect(kept(shift(NOW, 100)).map(({ removed_at }) => removed_at)[0]).toBe("2026-11-23T12:00:00.020Z");
    expect([kept(shift(NOW, 100)).length, readKeptJobs("ext_tother", { directory, now: NOW }).length]).toEqual([
      16, 16,
    ]);
  });

  test("throws internal, with the account, where the copy cannot be made", async () => {
    writeFileSync(directory, "");
    const keeping = keepJobs(ACCOUNT, { directory, now: NOW, read: async () => JOBS });
    await expect(keeping).rejects.toMatchObject({
      code: "internal",
      message: `The jobs of ext_tjobs cannot be copied to ${directory}: ENOTDIR`,
    });
    rmSync(directory);
    symlinkSync(base, directory);
    await expect(keepJobs(ACCOUNT, { directory, now: NOW, read: async () => JOBS })).rejects.toMatchObject({
      code: "internal",
    });
  });
});

describe("after 30 days", () => {
  test("a copy is shown no more, and goes with the next look or the next copy; what a crash left goes too", async () => {
    const jobs = async () => JOBS;
    await keepJobs(ACCOUNT, { directory, now: NOW, read: jobs });
    writeFileSync(join(directory, `ext_tjobs~${NOW.getTime()}.json.draft`), "{");
    writeFileSync(join(directory, "README"), "an administrator's");
    const last = shift(NOW, JOBS_KEPT);
    forgetJobs({ directory, now: last });
    expect([kept(last).length, readdirSync(directory).length]).toEqual([1, 3]);
    const after = shift(last, 1);
    expect(kept(after)).toEqual([]);
    forgetJobs({ directory, now: after });
    expect(readdirSync(directory)).toEqual(["README"]);
    await keepJobs(ACCOUNT, { directory, now: NOW, read: jobs });
    await keepJobs({ name: "ext_tother", uid: 1 }, { directory, now: after, read: jobs });
    expect(readdirSync(directory).toSorted()).toEqual(["README", `ext_tother~${after.getTime()}.json`]);
  });

  test("nothing is wrong where there is no directory", () => {
    forgetJobs({ directory, now: NOW });
    expect(kept()).toEqual([]);
  });
});

describe("uam user jobs", () => {
  test("shows control characters as escapes, and no content as the beginning of another file", async () => {
    const hostile = "\u001b[2Jrm\tx\r\n  /var/spool/cron/crontabs/ext_other, 1 byte\n\u202eabc\u0000\xff";
    writeFileSync(join(crontabs, ACCOUNT.name), hostile);
    await keep();
    expect(said()).toContain(
      [
        "    | \\x1b[2Jrm\tx\\x0d",
        "    |   /var/spool/cron/crontabs/ext_other, 1 byte",
        "    | \\u202eabc\\x00ÿ\n",
      ].join("\n"),
    );
    const json = said(true);
    expect(Buffer.from(JSON.parse(json).items[0].files[0].content, "base64").toString()).toBe(hostile);
    for (const text of [said(), json])
      expect(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/u.test(text)).toBe(false);
  });

  test("says so where there is none", () => {
    expect(said()).toBe("No jobs of ext_tjobs were removed on this host in the last 30 days, or none were kept.\n");
    expect(JSON.parse(said(true))).toEqual({ items: [] });
  });
});

function said(json = false): string {
  let text = "";
  const write = (more: string) => {
    text += more;
  };
  printKeptJobs({ out: write, err: write }, ACCOUNT.name, { copies: kept(), json });
  return text;
}
