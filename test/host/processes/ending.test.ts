import { describe, expect, test } from "bun:test";
import { endProcesses } from "../../../src/host/processes/ending.ts";
import { UamError } from "../../../src/shared/errors.ts";

/** No process has this uid, so that only the sweep decides. */
const account = { name: "ext_nobody", uid: 3_999_999_998 };
const noConnections = async () => {};

describe("endProcesses", () => {
  test("endProcesses() is not done when no process is seen: a sweep must have succeeded", async () => {
    let sweeps = 0;
    await endProcesses(account, { sweep: async () => ++sweeps === 3, endConnections: noConnections });
    expect(sweeps).toBe(3);
  });

  test("endProcesses() retries a command that could not be started, and does the rest meanwhile", async () => {
    const noRoom = () => {
      const cause = Object.assign(new Error("spawn EAGAIN"), { code: "EAGAIN" });
      throw new UamError("internal", "Cannot run /usr/bin/sudo", { cause });
    };
    let sweeps = 0;
    await endProcesses(account, {
      sweep: async () => (++sweeps < 3 ? noRoom() : true),
      endConnections: async () => noRoom(),
    });
    expect(sweeps).toBe(3);
  });

  test("endProcesses() stops if a command may not be run at all", async () => {
    const refused = new UamError("internal", "sudo refuses to run it");
    const ending = endProcesses(account, { sweep: () => Promise.reject(refused), endConnections: noConnections });
    await expect(ending).rejects.toBe(refused);
  });

  test("endProcesses() says so when no sweep could be made", async () => {
    const ending = endProcesses(account, { sweep: async () => false, endConnections: noConnections }, 200);
    await expect(ending).rejects.toThrow("It is not certain that all processes of ext_nobody ended");
  });
});
