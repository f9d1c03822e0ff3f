/** The end of a window, by a real sshd alone: nobody is there who could shut anything. */

import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { parseHours } from "../../src/shared/hours/text.ts";
import { openingAt } from "../../src/shared/hours/windows.ts";
import { HOUR, shift } from "../../src/shared/time/clock.ts";
import { directHost, keysPath, NAME, prepareHost, sshd, stored } from "../support/direct-host.ts";
import { describeOnHost } from "../support/host-account.ts";

describeOnHost("hours in direct mode", () => {
  prepareHost();

  describe("the end of a window in the key's line", () => {
    test("has sshd refuse the key from that second on, and not before, with nobody there to shut it", async () => {
      const { path, key } = sshd.makeKey(81);
      const host = await directHost();
      await host.createAccount(stored());
      // As long as this takes now, and four times as long to be sure.
      const begin = performance.now();
      await host.openAccount(stored({ keys: [key] }));
      expect(sshd.login(NAME, path)).toBe(true);
      const end = nextMinute(8000 + 5 * (performance.now() - begin));
      const [from, to] = [-HOUR, 0].map((shifted) => shift(end, shifted).toISOString().slice(11, 16));
      // It may be of the next day.
      const calendar = parseHours(`mon-sun ${from}-${to?.replace("00:00", "24:00")} UTC`);
      const { open, changesAt } = openingAt([calendar], new Date());
      expect([open, changesAt]).toEqual([true, end]);
      await host.openAccount(stored({ keys: [key], expireAt: changesAt as Date }));
      const last = new Date(end.getTime() - 1000).toISOString().slice(0, 19).replace(/\D/g, "");
      expect(readFileSync(keysPath(), "utf8")).toContain(`expiry-time="${last}Z"`);
      // Each login has a beginning and an end, and sshd decided in between.
      const tries: { readonly begun: number; readonly done: number; readonly admitted: boolean }[] = [];
      while (Date.now() < end.getTime() + 3000) {
        const begun = Date.now();
        const admitted = sshd.login(NAME, path);
        tries.push({ begun, done: Date.now(), admitted });
      }
      expect(tries.filter(({ begun, admitted }) => admitted && begun >= end.getTime())).toEqual([]);
      expect(tries.filter(({ done, admitted }) => !admitted && done < end.getTime())).toEqual([]);
      expect(tries.some(({ admitted }) => admitted)).toBe(true);
      expect(tries.some(({ admitted }) => !admitted)).toBe(true);
    });
  });
});

/** The next whole minute that is so many milliseconds away. */
function nextMinute(away: number): Date {
  return new Date(Math.ceil((Date.now() + away) / 60_000) * 60_000);
}
