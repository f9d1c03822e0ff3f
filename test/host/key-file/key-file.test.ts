import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { retireKeyFile, writeKeyFile } from "../../../src/host/key-file/key-file.ts";
import { keyFileDifference } from "../../../src/host/key-file/key-file-check.ts";
import { shrinkOrEmpty } from "../../../src/host/key-file/shrink.ts";
import { takeFromKeyFile, takeOtherKeyFile } from "../../../src/host/key-file/take.ts";
import type { Mount } from "../../../src/host/safe-open.ts";
import { SHORT_HANG } from "../../support/hang.ts";
import {
  ACCOUNT_GID,
  ACCOUNT_UID,
  createLab,
  isRoot,
  type Lab,
  own,
  ownDirectory,
  ownFile,
  targetIn,
} from "../../support/key-file-lab.ts";
import { testSlow } from "../../support/thorough.ts";

const TEXT = 'expiry-time="20270101000000Z" ssh-ed25519 AAAAnew uam:1\n';
const OLD = "ssh-ed25519 AAAAold uam:1\nssh-ed25519 AAAAolder uam:2\nssh-ed25519 AAAAoldest uam:3 and more text\n";

let lab: Lab;
beforeEach(() => {
  lab = createLab();
});
afterEach(() => {
  lab.remove();
});

/** Writes, without waiting for the owner, and checks that the file is right and that nothing outside changed. */
function writeAndCheck(text = TEXT): readonly string[] {
  const before = lab.outside();
  const started = performance.now();
  const { notes } = writeKeyFile(lab.target, text, []);
  expect(performance.now() - started).toBeLessThan(SHORT_HANG);
  expectHeld(lab.keys, text);
  expect(lab.outside()).toBe(before);
  return notes;
}

function expectHeld(path: string, text: string): void {
  const file = lstatSync(path);
  expect(file.isFile()).toBe(true);
  expect(readFileSync(path, "utf8")).toBe(text);
  expect([file.uid, file.gid, file.mode & 0o7777]).toEqual([ACCOUNT_UID, ACCOUNT_GID, 0o600]);
  const directory = lstatSync(join(path, ".."));
  expect([directory.isDirectory(), directory.uid, directory.mode & 0o7777]).toEqual([true, ACCOUNT_UID, 0o700]);
}

describe("writing", () => {
  test("writeKeyFile() creates directory and file with owner and modes", () => {
    expect(writeAndCheck()).toEqual([]);
    expect(readdirSync(lab.ssh)).toEqual(["authorized_keys"]);
  });

  test("writeKeyFile() replaces the file as a whole and empties it", () => {
    writeAndCheck(OLD);
    const inode = statSync(lab.keys).ino;
    writeAndCheck("");
    expect(statSync(lab.keys).ino).not.toBe(inode);
  });

  test("writeKeyFile() writes nothing if the file is right already", () => {
    writeAndCheck();
    const before = [statSync(lab.keys), statSync(lab.ssh)].map(({ ino, mtimeMs, ctimeMs }) => [ino, mtimeMs, ctimeMs]);
    expect(writeKeyFile(lab.target, TEXT, [])).toEqual({ changed: false, notes: [] });
    expect([statSync(lab.keys), statSync(lab.ssh)].map(({ ino, mtimeMs, ctimeMs }) => [ino, mtimeMs, ctimeMs])).toEqual(
      before,
    );
  });

  test("keyFileDifference() names each difference and changes nothing", () => {
    expect(keyFileDifference(lab.target, TEXT, [])).toBe("it is missing");
    writeAndCheck();
    expect(keyFileDifference(lab.target, TEXT, [])).toBeUndefined();
    expect(keyFileDifference(lab.target, `${TEXT} `, [])).toBe("its content differs");
    expect(keyFileDifference(lab.target, TEXT.replace("new", "odd"), [])).toBe("its content differs");
    chmodSync(lab.keys, 0o644);
    expect(keyFileDifference(lab.target, TEXT, [])).toBe("it has mode 0644");
    chmodSync(lab.keys, 0o600);
    chmodSync(lab.ssh, 0o755);
    expect(keyFileDifference(lab.target, TEXT, [])).toBe(".ssh has mode 0755");
  });

  test("writeKeyFile() repairs modes", () => {
    writeAndCheck();
    chmodSync(lab.keys, 0o666);
    chmodSync(lab.ssh, 0o777);
    writeAndCheck();
  });

  test("writeKeyFile() removes what a crash left, and leaves other names alone", () => {
    writeAndCheck();
    const left = `.uam.${"0123456789abcdef".repeat(2)}`;
    ownFile(join(lab.ssh, left), "half a li");
    ownFile(join(lab.ssh, "config"), "Host *\n");
    expect(keyFileDifference(lab.target, TEXT, [])).toBe("a temporary file was left by a crash");
    writeAndCheck();
    expect(readdirSync(lab.ssh).sort()).toEqual(["authorized_keys", "config"]);
  });

  testSlow("writeKeyFile() neither lists nor removes thousands of files that look like its own", () => {
    writeAndCheck(OLD);
    const names = Array.from({ length: 8_000 }, (_, index) => `.uam.${String(index).padStart(32, "0")}`);
    for (const name of names) closeSync(openSync(join(lab.ssh, name), "wx"));
    expect(writeKeyFile(lab.target, TEXT, [])).toEqual({ changed: true, notes: [] });
    expect(readFileSync(lab.keys, "utf8")).toBe(TEXT);
    expect(keyFileDifference(lab.target, TEXT, [])).toBeUndefined();
    expect(readdirSync(lab.ssh)).toHaveLength(names.length + 1);
  });

  test.if(isRoot)("writeKeyFile() makes root the owner if the file is outside the home", () => {
    const target = targetIn(lab.home, join(lab.base, "keys/%u/authorized_keys"));
    mkdirSync(join(lab.base, "keys"), { mode: 0o755 });
    const path = join(lab.base, "keys/ext_tlab/authorized_keys");
    const expectRoots = (): void => {
      expect(keyFileDifference(target, TEXT, [])).toBeUndefined();
      expect(readFileSync(path, "utf8")).toBe(TEXT);
      for (const [which, mode] of [
        [join(path, ".."), 0o750],
        [path, 0o640],
      ] as const) {
        const stat = lstatSync(which);
        expect([stat.uid, stat.gid, stat.mode & 0o7777]).toEqual([0, ACCOUNT_GID, mode]);
      }
    };
    writeKeyFile(target, TEXT, []);
    expectRoots();
    expect(lstatSync(join(lab.base, "keys")).uid).toBe(0);
    own(path);
    expect(keyFileDifference(target, TEXT, [])).toContain("it belongs to");
    writeKeyFile(target, TEXT, []);
    expectRoots();
    chownSync(join(path, ".."), 0, 0);
    expect(keyFileDifference(target, TEXT, [])).toContain("belongs to gid 0");
    writeKeyFile(target, TEXT, []);
    expectRoots();
    own(join(path, ".."));
    writeKeyFile(target, TEXT, []);
    expectRoots();
  });

  test.if(isRoot)("writeKeyFile() works with all accounts' files in one directory of root's", () => {
    mkdirSync(join(lab.base, "keys"), { mode: 0o755 });
    writeKeyFile(targetIn(lab.home, join(lab.base, "keys/%u")), TEXT, []);
    expect(readFileSync(join(lab.base, "keys/ext_tlab"), "utf8")).toBe(TEXT);
    expect(lstatSync(join(lab.base, "keys")).mode & 0o7777).toBe(0o755);
  });
});

describe("a second key file", () => {
  const second = () => targetIn(lab.home, "%h/.ssh/authorized_keys2");

  function retireAndCheck(target = second()): string | undefined {
    const before = lab.outside();
    const note = retireKeyFile(target, []);
    expect(lstatSync(target.path, { throwIfNoEntry: false })).toBeUndefined();
    expect(lab.outside()).toBe(before);
    return note;
  }

  test("retireKeyFile() does nothing if there is none", () => {
    expect(retireAndCheck()).toBeUndefined();
    writeKeyFile(lab.target, TEXT, []);
    const changed = statSync(lab.ssh).ctimeMs;
    expect(retireAndCheck()).toBeUndefined();
    expect(statSync(lab.ssh).ctimeMs).toBe(changed);
    expectHeld(lab.keys, TEXT);
  });

  test("retireKeyFile() moves a file away with its content, and says so", () => {
    writeKeyFile(lab.target, TEXT, []);
    ownFile(second().path, OLD);
    expect(retireAndCheck()).toContain("authorized_keys2");
    const aside = readdirSync(lab.ssh).find((name) => name.startsWith("authorized_keys2.uam-aside."));
    expect(readFileSync(join(lab.ssh, aside ?? ""), "utf8")).toBe(OLD);
    expectHeld(lab.keys, TEXT);
  });

  test.each([
    ["a link", (path: string): void => symlinkSync(join(lab.victim, "file"), path)],
    ["a dangling link", (path: string): void => symlinkSync(join(lab.base, "nowhere"), path)],
    ["a FIFO", (path: string): void => void spawnSync("mkfifo", [path])],
    ["a directory", (path: string): void => ownDirectory(path)],
    ["a hard link", (path: string): void => linkSync(join(lab.victim, "file"), path)],
  ])("retireKeyFile() moves %s away and leaves its target alone", (_, make) => {
    ownDirectory(lab.ssh);
    make(second().path);
    expect(retireAndCheck()).toBeDefined();
  });

  test("retireKeyFile() moves away a linked directory on the path, which sshd would follow", () => {
    symlinkSync(lab.victim, join(lab.home, "more"));
    const target = targetIn(lab.home, "%h/more/authorized_keys");
    expect(retireAndCheck(target)).toContain("more");
  });

  test("retireKeyFile() leaves a file outside the home alone", () => {
    const target = targetIn(lab.home, join(lab.base, "keys/%u"));
    mkdirSync(join(lab.base, "keys"));
    ownFile(target.path, OLD);
    expect(retireKeyFile(target, [])).toBeUndefined();
    expect(readFileSync(target.path, "utf8")).toBe(OLD);
  });

  test("retireKeyFile() refuses a mount on the path", () => {
    expect(() => retireKeyFile(second(), [mountAt(lab.ssh)])).toThrow("is a mount point");
  });
});

describe("hostile layouts", () => {
  test("writeKeyFile() sets a linked .ssh aside and leaves its target alone", () => {
    symlinkSync(lab.victim, lab.ssh);
    expect(writeAndCheck()).toHaveLength(1);
  });

  test("writeKeyFile() sets a dangling .ssh aside and does not create its target", () => {
    symlinkSync(join(lab.base, "nowhere"), lab.ssh);
    writeAndCheck();
    expect(existsSync(join(lab.base, "nowhere"))).toBe(false);
  });

  test("writeKeyFile() sets a .ssh that is a link to itself aside", () => {
    symlinkSync(".ssh", lab.ssh);
    writeAndCheck();
  });

  test("writeKeyFile() sets a .ssh that is a file aside, with its content", () => {
    ownFile(lab.ssh, "mine\n");
    writeAndCheck();
    const aside = readdirSync(lab.home).find((name) => name.startsWith(".ssh.uam-aside."));
    expect(readFileSync(join(lab.home, aside ?? ""), "utf8")).toBe("mine\n");
  });

  test("writeKeyFile() sets a .ssh that is a FIFO aside", () => {
    expect(spawnSync("mkfifo", [lab.ssh]).status).toBe(0);
    writeAndCheck();
  });

  test("writeKeyFile() replaces a linked file and leaves its target alone", () => {
    ownDirectory(lab.ssh);
    symlinkSync(join(lab.victim, "authorized_keys"), lab.keys);
    writeAndCheck();
  });

  test("writeKeyFile() replaces a link whose target contains the same text", () => {
    ownDirectory(lab.ssh);
    writeFileSync(join(lab.victim, "same"), TEXT, { mode: 0o600 });
    own(join(lab.victim, "same"));
    symlinkSync(join(lab.victim, "same"), lab.keys);
    writeAndCheck();
  });

  test("writeKeyFile() replaces a dangling link and does not create its target", () => {
    ownDirectory(lab.ssh);
    symlinkSync(join(lab.base, "nowhere"), lab.keys);
    writeAndCheck();
    expect(existsSync(join(lab.base, "nowhere"))).toBe(false);
  });

  test("writeKeyFile() replaces a FIFO without waiting for its other end", () => {
    ownDirectory(lab.ssh);
    expect(spawnSync("mkfifo", [lab.keys]).status).toBe(0);
    writeAndCheck();
  });

  test("writeKeyFile() sets a directory aside, with its content", () => {
    ownDirectory(lab.ssh);
    ownDirectory(lab.keys);
    ownFile(join(lab.keys, "inside"), "kept\n");
    writeAndCheck();
    const aside = readdirSync(lab.ssh).find((name) => name.startsWith("authorized_keys.uam-aside."));
    expect(readFileSync(join(lab.ssh, aside ?? "", "inside"), "utf8")).toBe("kept\n");
  });

  test("writeKeyFile() replaces a hard link and leaves the other name's file alone", () => {
    ownDirectory(lab.ssh);
    linkSync(join(lab.victim, "authorized_keys"), lab.keys);
    const content = readFileSync(join(lab.victim, "authorized_keys"), "utf8");
    const { ino, uid, mode } = lstatSync(join(lab.victim, "authorized_keys"));
    writeKeyFile(lab.target, TEXT, []);
    expectHeld(lab.keys, TEXT);
    expect(readFileSync(join(lab.victim, "authorized_keys"), "utf8")).toBe(content);
    const after = lstatSync(join(lab.victim, "authorized_keys"));
    expect([after.ino, after.uid, after.mode]).toEqual([ino, uid, mode]);
  });

  test("writeKeyFile() leaves squatted temporary names that are directories or links alone", () => {
    ownDirectory(lab.ssh);
    ownDirectory(join(lab.ssh, `.uam.${"a".repeat(32)}`));
    symlinkSync(join(lab.victim, "file"), join(lab.ssh, `.uam.${"b".repeat(32)}`));
    for (let index = 0; index < 500; index++) ownFile(join(lab.ssh, `.uam.${index.toString(16)}`), "");
    writeAndCheck();
  });

  test("writeKeyFile() refuses a home that is a link, and touches nothing", () => {
    rmSync(lab.home, { recursive: true });
    symlinkSync(lab.victim, lab.home);
    const before = lab.outside();
    expect(() => writeKeyFile(lab.target, TEXT, [])).toThrow("is missing or is not a directory");
    expect(lab.outside()).toBe(before);
  });

  test("writeKeyFile() refuses a home that is missing, and does not create it", () => {
    rmSync(lab.home, { recursive: true });
    expect(() => writeKeyFile(lab.target, TEXT, [])).toThrow("is missing or is not a directory");
    expect(existsSync(lab.home)).toBe(false);
  });

  test("writeKeyFile() refuses to work below a directory that others can write", () => {
    chmodSync(lab.base, 0o777);
    expect(() => writeKeyFile(lab.target, TEXT, [])).toThrow("is writable by users other than its owner");
    chmodSync(lab.base, 0o755);
    expect(existsSync(lab.ssh)).toBe(false);
  });

  test("writeKeyFile() refuses a mount on the path", () => {
    expect(() => writeKeyFile(lab.target, TEXT, [mountAt(lab.ssh)])).toThrow("is a mount point");
    expect(() => writeKeyFile(lab.target, TEXT, [mountAt(lab.home, "fuse.sshfs")])).toThrow("is a mount point");
    writeKeyFile(lab.target, TEXT, [mountAt(lab.home), mountAt(join(lab.home, "data"))]);
    expectHeld(lab.keys, TEXT);
  });
});

describe.if(isRoot)("hostile layouts that only root meets", () => {
  test("writeKeyFile() copes with modes 000 and gives the owner their rights back", () => {
    ownDirectory(lab.ssh);
    ownFile(lab.keys, OLD, 0);
    chmodSync(lab.keys, 0);
    chmodSync(lab.ssh, 0);
    chmodSync(lab.home, 0);
    writeAndCheck();
    expect(lstatSync(lab.home).mode & 0o7777).toBe(0o700);
  });

  test("writeKeyFile() refuses a home that belongs to another user", () => {
    rmSync(lab.home, { recursive: true });
    mkdirSync(lab.home, { mode: 0o700 });
    chownSync(lab.home, ACCOUNT_UID + 1, ACCOUNT_UID + 1);
    expect(() => writeKeyFile(lab.target, TEXT, [])).toThrow(`belongs to uid ${ACCOUNT_UID + 1}`);
    expect(readdirSync(lab.home)).toEqual([]);
  });

  test("writeKeyFile() sets a .ssh of a foreign owner aside as it is", () => {
    mkdirSync(lab.ssh, { mode: 0o750 });
    writeFileSync(join(lab.ssh, "id"), "root's\n");
    writeAndCheck();
    const aside = join(lab.home, readdirSync(lab.home).find((name) => name.startsWith(".ssh.uam-aside.")) ?? "");
    expect([lstatSync(aside).uid, lstatSync(aside).mode & 0o7777, readFileSync(join(aside, "id"), "utf8")]).toEqual([
      0,
      0o750,
      "root's\n",
    ]);
  });

  test("writeKeyFile() replaces a file of a foreign owner that contains the right text", () => {
    ownDirectory(lab.ssh);
    writeFileSync(lab.keys, TEXT, { mode: 0o600 });
    writeAndCheck();
  });

  test("writeKeyFile() keeps the old file if it is immutable, and says so", () => {
    ownDirectory(lab.ssh);
    ownFile(lab.keys, OLD);
    // tmpfs has no such attribute, and nothing to test then.
    if (spawnSync("chattr", ["+i", lab.keys]).status !== 0) return;
    try {
      expect(() => writeKeyFile(lab.target, TEXT, [])).toThrow("EPERM");
      expect(readFileSync(lab.keys, "utf8")).toBe(OLD);
      expect(readdirSync(lab.ssh)).toEqual(["authorized_keys"]);
    } finally {
      spawnSync("chattr", ["-i", lab.keys]);
    }
  });
});

/** A tmpfs of the account's own; undefined if mounting is not allowed (an unprivileged container). */
function mountTmpfs(path: string, options: string): boolean {
  return spawnSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", path]).status === 0;
}

describe.if(isRoot)("full disks and mounts", () => {
  async function onTmpfs(options: string, work: (small: Lab) => unknown): Promise<void> {
    const point = join(lab.base, "small");
    mkdirSync(point);
    if (!mountTmpfs(point, options)) return;
    try {
      await work(createLab(point));
    } finally {
      spawnSync("umount", ["-l", point]);
    }
  }

  function fill(directory: string): void {
    try {
      for (let index = 0; ; index++) writeFileSync(join(directory, `fill${index}`), Buffer.alloc(4096));
    } catch (error) {
      expect(String(error)).toContain("ENOSPC");
    }
  }

  test("writeKeyFile() keeps the old file when a key is added on a full disk", async () => {
    await onTmpfs("size=256k", (small) => {
      writeKeyFile(small.target, TEXT, []);
      fill(small.base);
      expect(() => writeKeyFile(small.target, TEXT + OLD, [])).toThrow("ENOSPC");
      expect(readFileSync(small.keys, "utf8")).toBe(TEXT);
      expect(readdirSync(small.ssh)).toEqual(["authorized_keys"]);
    });
  });

  test("writeKeyFile() revokes a key on a full disk", async () => {
    await onTmpfs("size=256k", (small) => {
      writeKeyFile(small.target, OLD, []);
      fill(small.base);
      writeKeyFile(small.target, TEXT, []);
      expectHeld(small.keys, TEXT);
      writeKeyFile(small.target, "", []);
      expectHeld(small.keys, "");
    });
  });

  test("writeKeyFile() revokes a key when no inode is left", async () => {
    await onTmpfs("size=1m,nr_inodes=24", (small) => {
      writeKeyFile(small.target, OLD, []);
      fill(small.base);
      writeKeyFile(small.target, TEXT, []);
      expectHeld(small.keys, TEXT);
    });
  });

  test("writeKeyFile() revokes a key on a full disk although the file has a second name", async () => {
    await onTmpfs("size=256k", (small) => {
      writeKeyFile(small.target, OLD, []);
      linkSync(small.keys, join(small.home, "other"));
      fill(small.base);
      writeKeyFile(small.target, TEXT, []);
      expectHeld(small.keys, TEXT);
      // The file that the owner keeps under another name is theirs, and loses the key as well.
      expect(readFileSync(join(small.home, "other"), "utf8")).toBe(TEXT);
    });
  });

  test("writeKeyFile() does not write into another user's file on a full disk", async () => {
    await onTmpfs("size=256k", (small) => {
      writeKeyFile(small.target, OLD, []);
      rmSync(small.keys);
      linkSync(join(small.victim, "authorized_keys"), small.keys);
      const before = readFileSync(join(small.victim, "authorized_keys"), "utf8");
      fill(small.base);
      expect(() => writeKeyFile(small.target, "x\n", [])).toThrow("ENOSPC");
      expect(readFileSync(join(small.victim, "authorized_keys"), "utf8")).toBe(before);
    });
  });

  test("takeFromKeyFile() empties a file that has no room for the new text, and says that keys are missing", async () => {
    await onTmpfs("size=1m,nr_inodes=24", async (small) => {
      writeKeyFile(small.target, TEXT, []);
      linkSync(small.keys, join(small.home, "other"));
      fill(small.base);
      await expect(takeFromKeyFile(small.target, TEXT + OLD, [])).rejects.toThrow("ENOSPC");
      expect(readFileSync(small.keys, "utf8")).toBe("");
      expect(await takeFromKeyFile(small.target, "", [])).toMatchObject({ changed: false });
    });
  });

  test("takeFromKeyFile() succeeds if there is no file and none can be created", async () => {
    await onTmpfs("size=1m,nr_inodes=24", async (small) => {
      fill(small.base);
      expect(await takeFromKeyFile(small.target, "", [])).toMatchObject({ notes: [] });
      await expect(takeFromKeyFile(small.target, TEXT, [])).rejects.toThrow("ENOSPC");
    });
  });

  test.each([
    ["a link", (keys: string): void => symlinkSync(join(lab.victim, "authorized_keys"), keys)],
    ["a hard link", (keys: string): void => linkSync(join(lab.victim, "authorized_keys"), keys)],
  ])("shrinkOrEmpty() never empties what is not the account's, through %s", (_, make) => {
    ownDirectory(lab.ssh);
    const before = readFileSync(join(lab.victim, "authorized_keys"), "utf8");
    make(lab.keys);
    expect(shrinkOrEmpty(lab.target, "", [])).toBe(true);
    expect(existsSync(lab.keys)).toBe(false);
    expect(readFileSync(join(lab.victim, "authorized_keys"), "utf8")).toBe(before);
  });

  test("takeFromKeyFile() and takeOtherKeyFile() remove attributes that only root can have set", async () => {
    ownDirectory(lab.ssh);
    ownFile(lab.keys, OLD);
    const second = targetIn(lab.home, "%h/.ssh/authorized_keys2");
    ownFile(second.path, OLD);
    const flags = (): void => {
      for (const [flag, path] of [
        ["+i", lab.keys],
        ["+a", second.path],
        ["+i", lab.ssh],
        ["+a", lab.home],
      ] as const)
        spawnSync("chattr", [flag, path]);
    };
    if (spawnSync("chattr", ["+i", lab.keys]).status !== 0) return;
    flags();
    try {
      await takeFromKeyFile(lab.target, TEXT, []);
      expectHeld(lab.keys, TEXT);
      flags();
      await takeOtherKeyFile(second, []);
      expect(existsSync(second.path)).toBe(false);
    } finally {
      spawnSync("chattr", ["-R", "-i", "-a", lab.home]);
    }
  });

  test("takeFromKeyFile() leaves the attributes of what a link points to alone", async () => {
    ownDirectory(lab.ssh);
    const precious = join(lab.victim, "file");
    if (spawnSync("chattr", ["+i", precious]).status !== 0) return;
    try {
      symlinkSync(precious, lab.keys);
      spawnSync("chattr", ["+i", lab.ssh]);
      await takeFromKeyFile(lab.target, "", []);
      expectHeld(lab.keys, "");
      const { stdout } = spawnSync("lsattr", [precious], { encoding: "utf8" });
      expect(stdout.split(" ")[0]).toContain("i");
    } finally {
      spawnSync("chattr", ["-i", precious]);
      spawnSync("chattr", ["-i", lab.ssh]);
    }
  });

  test("writeKeyFile() refuses a read-only file system", async () => {
    await onTmpfs("size=256k", (small) => {
      writeKeyFile(small.target, OLD, []);
      expect(spawnSync("mount", ["-o", "remount,ro", join(lab.base, "small")]).status).toBe(0);
      expect(() => writeKeyFile(small.target, TEXT, [])).toThrow("EROFS");
      expect(readFileSync(small.keys, "utf8")).toBe(OLD);
    });
  });

  test("writeKeyFile() refuses a .ssh that is a mount, from the kernel's own list and without it", async () => {
    const { readMounts } = await import("../../../src/host/safe-open.ts");
    ownDirectory(lab.ssh);
    if (!mountTmpfs(lab.ssh, "size=64k")) return;
    try {
      own(lab.ssh);
      chmodSync(lab.ssh, 0o700);
      expect(() => writeKeyFile(lab.target, TEXT, readMounts())).toThrow("is a mount point");
      expect(() => writeKeyFile(lab.target, TEXT, [])).toThrow("is a mount point");
      expect(readdirSync(lab.ssh)).toEqual([]);
    } finally {
      spawnSync("umount", ["-l", lab.ssh]);
    }
  });

  test("writeKeyFile() refuses a victim's directory that is bound over .ssh", async () => {
    const { readMounts } = await import("../../../src/host/safe-open.ts");
    ownDirectory(lab.ssh);
    if (spawnSync("mount", ["--bind", lab.victim, lab.ssh]).status !== 0) return;
    const before = lab.outside();
    try {
      expect(() => writeKeyFile(lab.target, TEXT, readMounts())).toThrow("is a mount point");
      expect(() => writeKeyFile(lab.target, TEXT, [])).toThrow("EBUSY");
      expect(lab.outside()).toBe(before);
    } finally {
      spawnSync("umount", ["-l", lab.ssh]);
    }
    unlinkSync(join(lab.victim, "file"));
  });
});

function mountAt(path: string, type = "ext4"): Mount {
  return { path, bytes: Buffer.from(path), type, options: "rw" };
}
