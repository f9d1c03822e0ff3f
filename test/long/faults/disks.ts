/** Files that have no room, and files that may not be written. */

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fill, must, onStage } from "./stage.ts";

const SMALL = { place: "small", kind: "tmpfs", size: "256k" } as const;
const user = (name: string) => ({ username: name, email: `${name}@example.org` });

export const logOnFullDisk = () =>
  onStage({ small: SMALL, as: (at) => ["/bin/sh", "-c", `exec "$@" 2>>${at}/small/log`, "sh"] }, async (stage) => {
    const { call, fault } = stage;
    const makeRoom = fill(join(stage.directory, "small"));
    for (let count = 0; count < 30; count++) {
      const { status } = await call("POST", "/users", user(`full-${count}`));
      fault(status !== 201, `a change is answered with ${status} while the log has no room`);
    }
    await stage.othersAreServed("while the log has no room");
    makeRoom();
    await call("POST", "/users", user("after"));
    const lines = readFileSync(join(stage.directory, "small/log"), "utf8").split("\n");
    const torn = lines.filter((line) => line.startsWith("{") && !isJson(line));
    fault(torn.length > 1, `${torn.length} lines of the log cannot be read`);
    fault(!lines.some((line) => line.includes("ext_after") && isJson(line)), "what came after is not in the log");
  });

function isJson(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}

/** Mail is late, and nothing else; each arrives once. */
export const mailOnFullDisk = () =>
  onStage({ small: SMALL, as: (at) => ["/usr/bin/env", `UAM_MAIL_LOG=${at}/small/mail.log`] }, async (stage) => {
    const { call, fault, directory } = stage;
    const makeRoom = fill(join(directory, "small"));
    const status = (await call("POST", "/users", user("mailed"))).status;
    fault(status !== 201, `a user is not created while mail has no room: ${status}`);
    await Bun.sleep(3000);
    await stage.othersAreServed("while mail has no room");
    makeRoom();
    const mails = () => {
      const path = join(directory, "small/mail.log");
      return existsSync(path)
        ? readFileSync(path, "utf8")
            .split("\n")
            .filter((line) => isJson(line) && line.includes("mailed@"))
        : [];
    };
    for (let wait = 0; wait < 120 && mails().length === 0; wait++) await Bun.sleep(500);
    fault(mails().length !== 1, `the welcome arrived ${mails().length} times`);
  });

/** A backup without room fails with a sentence, leaves nothing that could be taken for one, and one with room succeeds. */
export const backupToFullDisk = () =>
  onStage({ small: SMALL }, async (stage) => {
    const { service, fault, directory } = stage;
    const makeRoom = fill(join(directory, "small"));
    const path = join(directory, "small/backup");
    const { status, stderr } = service.run(["backup", path]);
    fault(status !== 1 || !/space/i.test(stderr), `a backup to a full disk: ${status} ${stderr}`);
    fault(existsSync(path), "a part of a backup is left under the name of a whole one");
    await stage.othersAreServed("beside a backup that finds no room");
    makeRoom();
    const again = service.run(["backup", path]);
    fault(again.status !== 0, `a backup once there is room: ${again.stderr}`);
    const whole = service.run(["restore", "--check", path]);
    fault(whole.status !== 0, `the backup does not check: ${whole.stderr}`);
  });

/** Remounted read-only, as after an error of the disk. */
export const readOnlyData = () =>
  onStage({ small: { place: "data", kind: "ext4", size: "400M" }, leaks: false, verifies: false }, async (stage) => {
    const { call, fault } = stage;
    await call("POST", "/users", user("alice"));
    const at = join(stage.directory, "data");
    spawnSync("sync");
    // Files that are open for writing forbid it to all but an error of the disk, which this asks ext4 to find.
    must("mount", "-o", "remount,abort", at);
    const answers = new Set<string>();
    for (let count = 0; count < 20; count++) {
      const { status, body } = await call("POST", "/users", user(`ro-${count}`));
      answers.add(`${status} ${body?.error ?? ""}`);
      await Bun.sleep(100);
    }
    for (const answer of answers) fault(/^(0|201)|internal error/.test(answer), `with read-only data: ${answer}`);
    const { status } = await call("GET", "/healthz");
    fault(status !== 200, `/healthz answers ${status} with read-only data`);
  });
