import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { removeOwnedFiles } from "../../src/host/execute/direct.ts";

test("removeOwnedFiles() leaves others their turn, and removes all though some go meanwhile", async () => {
  const base = mkdtempSync(join(tmpdir(), "uam-spool-"));
  try {
    const spool = join(base, "atjobs");
    mkdirSync(spool);
    const victim = join(base, "victim");
    writeFileSync(victim, "precious");
    for (let index = 0; index < 1600; index++) writeFileSync(join(spool, `a${index}`), "");
    mkdirSync(join(spool, "directory"));
    symlinkSync(victim, join(spool, "link"));
    let turns = 0;
    const removing = removeOwnedFiles(spool, process.getuid?.() ?? 0);
    // The daemon begins with some of them.
    const gone = readdirSync(spool).filter((name) => name.startsWith("a"));
    for (const name of gone.filter((_, index) => index % 3 === 0)) rmSync(join(spool, name));
    const timer = setInterval(() => turns++, 0);
    await removing;
    clearInterval(timer);
    expect(readdirSync(spool).sort()).toEqual(["directory", "link"]);
    expect(existsSync(victim)).toBe(true);
    expect(gone.length).toBeGreaterThan(0);
    expect(turns).toBeGreaterThan(0);
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
});

test("removeOwnedFiles() says which spool keeps a job that cannot be removed", async () => {
  const base = mkdtempSync(join(tmpdir(), "uam-spool-"));
  const spool = join(base, "atjobs");
  const job = join(spool, "a1");
  mkdirSync(spool);
  writeFileSync(job, "");
  // tmpfs has no such attribute; and only root can set it.
  const isKept = spawnSync("chattr", ["+i", job]).status === 0;
  try {
    const removing = removeOwnedFiles(spool, process.getuid?.() ?? 0);
    if (isKept) await expect(removing).rejects.toThrow(`Cannot remove jobs in ${spool}: EPERM`);
    else await removing;
    expect(existsSync(job)).toBe(isKept);
  } finally {
    spawnSync("chattr", ["-i", job]);
    rmSync(base, { recursive: true, force: true });
  }
});
