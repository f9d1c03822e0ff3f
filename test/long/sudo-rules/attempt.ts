/** Both halves of the attack on sudo's rules, on a host with the real rules and one account. */

import { bunRuntime } from "../../../src/runtime/bun.ts";
import type { RemoteHost } from "../../support/host-client.ts";
import { createSudoLab, GROUP, NAME, OTHER, run, SERVICE, type SudoLab, stored, UID } from "../../support/sudo-lab.ts";
import { createRandom } from "../closings/random.ts";
import { runShift, type Shift, shiftsOf } from "./boundaries.ts";
import { fillIn, type Ground, templatesOf } from "./grammar.ts";
import { type Answers, askMany } from "./questions.ts";

export interface Attempt {
  /** Asks sudo about commands that somebody changed. */
  ask(seed: number, count: number): Promise<Answers>;
  /** Runs commands whose arguments are cut elsewhere; at most `count`, drawn by the seed. Returns how many, and what they did. */
  shift(seed: number, count: number): Promise<{ readonly runs: number; readonly faults: readonly string[] }>;
  end(): void;
}

/** Needs root; end it, or account, system user and rules stay. */
export async function startAttempt(): Promise<Attempt> {
  const lab = createSudoLab();
  const host = lab.startHost();
  const uids = { first: UID, last: UID + 99 };
  const ground: Ground = { base: lab.base, group: GROUP, program: bunRuntime.program, uids };
  const people = { account: NAME, uid: UID, names: [NAME, OTHER], others: [SERVICE, "sshd", "bin"] };
  const end = (): void => {
    host.stop();
    lab.cleanUp();
    lab.remove();
  };
  try {
    await host.createAccount(stored());
  } catch (error) {
    end();
    throw error;
  }
  return {
    ask: (seed, count) => askMany(SERVICE, { ground, people }, { seed, count }),
    shift: async (seed, count) => {
      const shifts = drawn(seed, count, ground);
      const faults: string[] = [];
      for (const it of shifts) {
        const found = runShift(SERVICE, ground, it);
        faults.push(...found.map((fault) => `${fault} by ${JSON.stringify(it.argv)}`));
        await restore(host, lab);
      }
      return { runs: shifts.length, faults };
    },
    end,
  };
}

/** All of them, or as many as are to be run. A new account's name goes with a uid that is free. */
function drawn(seed: number, count: number, ground: Ground): readonly Shift[] {
  const usual = {
    name: NAME,
    name2: OTHER,
    name3: NAME,
    name4: NAME,
    name5: NAME,
    name6: NAME,
    uid: String(UID),
    day: "22000",
    mark: "0123456789abcdef",
    below: "mnt",
  };
  const values = { ...usual, session: "123450000678", place: "00" };
  const added = { ...values, name: OTHER, uid: String(UID + 1) };
  const shifts = (["root", "owner"] as const).flatMap((as) =>
    templatesOf(ground, as).flatMap((template) => {
      const argv = fillIn(template, template[0]?.endsWith("useradd") ? added : values);
      return shiftsOf({ as: as === "owner" ? NAME : undefined, argv });
    }),
  );
  const random = createRandom(seed);
  const left = [...shifts];
  while (left.length > count) left.splice(random.below(left.length), 1);
  return left;
}

/** What a command did as it may: the account is as before, the other one is gone. */
async function restore(host: RemoteHost, lab: SudoLab): Promise<void> {
  if (run("getent", "passwd", OTHER).status === 0) {
    run("userdel", "-r", "--", OTHER);
    run("rm", "-rf", "--", lab.home(OTHER));
  }
  if (run("getent", "passwd", NAME).status !== 0) await host.createAccount(stored());
}
