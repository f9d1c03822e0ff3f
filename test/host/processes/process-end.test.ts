import { describe, expect, test } from "bun:test";
import { endProcesses } from "../../../src/host/processes/process-end.ts";
import { UamError } from "../../../src/shared/errors.ts";

/** No process has this uid, so that only the sweep decides. */
const account = { name: "ext_nobody", uid: 3_999_999_998 };
const noConnections = async () => false;

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
      endConnections: async () => (sweeps < 3 ? noRoom() : false),
    });
    expect(sweeps).toBe(3);
  });

  test("endProcesses() sweeps before it looks, so that one listing without anything is enough", async () => {
    const steps: string[] = [];
    const note = (step: string) => async () => {
      steps.push(step);
      return step === "sweep";
    };
    const ender = { sweep: note("sweep"), endConnections: note("look") };
    await endProcesses(account, ender);
    expect(steps).toEqual(["sweep", "look"]);
  });

  test("endProcesses() sweeps again after a connection, which may have started something since", async () => {
    const open = [true, false];
    let sweeps = 0;
    const ender = { sweep: async () => ++sweeps > 0, endConnections: async () => open.shift() ?? false };
    await endProcesses(account, ender);
    expect(sweeps).toBe(2);
  });

  test("endProcesses() does not wait for strangers who keep knocking", async () => {
    let sweeps = 0;
    const ender = { sweep: async () => ++sweeps > 0, endConnections: async () => true };
    await endProcesses(account, ender);
    expect(sweeps).toBe(4);
  });

  test("endProcesses() lists processes only where a sweep was not certain, or a glance after it shows something", async () => {
    const clear = [true, false, true];
    const steps: string[] = [];
    const ender = {
      sweep: async () => steps.push("sweep") !== 2,
      endConnections: async () => steps.push("list") === 0,
      isClear: (_: unknown, closely: boolean) => {
        steps.push(closely ? "close look" : "glance");
        return clear.shift() === true;
      },
    };
    await endProcesses(account, ender, { isFirst: true });
    expect(steps.splice(0)).toEqual(["sweep", "glance"]);
    // The second sweep could not be made.
    steps.push("");
    await endProcesses(account, ender, { isFirst: true });
    expect(steps.splice(0)).toEqual(["", "sweep", "list", "sweep", "glance", "list"]);
    await endProcesses(account, ender);
    expect(steps.splice(0)).toEqual(["sweep", "close look"]);
  });

  test("endProcesses() stops if a command may not be run at all", async () => {
    const refused = new UamError("internal", "sudo refuses to run it");
    const ending = endProcesses(account, { sweep: () => Promise.reject(refused), endConnections: noConnections });
    await expect(ending).rejects.toBe(refused);
  });

  test("endProcesses() says so when no sweep could be made", async () => {
    const ending = endProcesses(
      account,
      { sweep: async () => false, endConnections: noConnections },
      { patience: 200 },
    );
    await expect(ending).rejects.toThrow("It is not certain that all processes of ext_nobody ended");
  });
});
