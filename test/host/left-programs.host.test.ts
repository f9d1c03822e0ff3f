import { afterAll, beforeAll, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { findLeftPrograms } from "../../src/host/left-programs.ts";
import { describeOnHost } from "../support/host-account.ts";

/** Of nobody. */
const GONE = 98_765;
const isGone = (id: number) => id === GONE;

describeOnHost("findLeftPrograms()", () => {
  let top: string;
  const BOUNDS = { files: 10_000, milliseconds: 60_000, depth: 5, found: 20 };

  beforeAll(() => {
    // Not below /tmp, which may ignore set-uid bits.
    top = mkdtempSync("/var/lib/uam-test-left-");
    leave("shared/deep/er/program", { mode: 0o4755 });
    leave("shared/group", { mode: 0o2755, uid: 0 });
    leave("shared/data", { mode: 0o755 });
    leave("shared/of-root", { mode: 0o4755, uid: 0, gid: 0 });
    leave(Buffer.from("shared/no-text-\xff", "latin1"), { mode: 0o4755 });
    leave("shared/\u001b[2J", { mode: 0o4755 });
    leave("homes/ext_a/inside", { mode: 0o4755 });
    leave("a/b/c/d/e/f/too-deep", { mode: 0o4755 });
    symlinkSync(join(top, "a"), join(top, "shared/link"));
    mkdirSync(join(top, "mounted"));
    expect(spawnSync("mount", ["-t", "tmpfs", "tmpfs", join(top, "mounted")]).status).toBe(0);
    leave("mounted/elsewhere", { mode: 0o4755 });
  });
  afterAll(() => {
    spawnSync("umount", [join(top, "mounted")]);
    rmSync(top, { recursive: true, force: true });
  });

  function leave(
    name: string | Buffer,
    { mode, uid = GONE, gid = GONE }: { mode: number; uid?: number; gid?: number },
  ) {
    const path = Buffer.concat([Buffer.from(`${top}/`), Buffer.from(name)]);
    mkdirSync(dirname(path.toString("latin1")), { recursive: true });
    writeFileSync(path, "");
    chownSync(path, uid, gid);
    chmodSync(path, mode);
  }
  const search = async (bounds = {}) =>
    await findLeftPrograms(isGone, {
      ...{ homes: join(top, "homes"), roots: [join(top, "shared"), top], bounds: { ...BOUNDS, ...bounds } },
    });

  test("finds what gives the rights of the uid or the group, whatever its name, once, and not in homes, links or mounts", async () => {
    const { found, unseen } = await search();
    expect(found.map(({ path }) => path.slice(top.length)).sort()).toEqual(
      ["/shared/?[2J", "/shared/deep/er/program", "/shared/group", "/shared/no-text-\uFFFD"].sort(),
    );
    expect(new Set(found.map(({ uid }) => uid))).toEqual(new Set([GONE]));
    expect(unseen).toEqual(["what is deeper than 5 directories"]);
  });

  test("says what it did not look at", async () => {
    expect(await search({ files: 2 })).toMatchObject({ unseen: ["what there was no time for"] });
    const few = await search({ found: 1 });
    expect([few.found.length, few.unseen]).toEqual([1, ["more of the kind"]]);
    expect((await search({ depth: 20 })).unseen).toEqual([]);
  });
});
