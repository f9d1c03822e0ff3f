/** Terminals of a real sshd are told before a session ends with the hours. */

import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { base, directHost, NAME, prepareHost, sshd, stored, UID } from "../../support/direct-host.ts";
import { openTerminal } from "../../support/direct-terminal.ts";
import { describeOnHost } from "../../support/host-account.ts";
import { until } from "../../support/until.ts";

const TEXT = "Your access ends at 18:00 (Europe/Berlin), and this session with it.";
const ending = (at: string, text = TEXT) => ({ name: NAME, uid: UID, at: new Date(at), text });

describeOnHost("terminals of accounts whose access ends soon, in direct mode", () => {
  prepareHost();

  test("tellEnding() tells each terminal once of an end, one that came later too, and waits for none that is stopped", async () => {
    const made = sshd.makeKey(93);
    const host = await directHost();
    await host.createAccount(stored({ keys: [made.key] }));
    await host.openAccount(stored({ keys: [made.key] }));
    const [one, stopped] = [await openTerminal(made.path), await openTerminal(made.path)];
    const times = (said: string) => said.split(TEXT).length - 1;
    const typed = join(base, NAME, "typed");
    stopped.type("cat > typed\n");
    await until(() => existsSync(typed));
    // Ctrl-S: what is written to this terminal waits until its owner goes on. What is typed after it is read after it.
    stopped.type("\x13on\n");
    await until(() => readFileSync(typed, "utf8") === "on\n");
    await host.tellEnding([]);
    await host.tellEnding([ending("2026-11-27T17:00:00Z")]);
    await until(() => times(one.said()) === 1);
    const later = await openTerminal(made.path);
    await host.tellEnding([ending("2026-11-27T17:00:00Z")]);
    await until(() => times(later.said()) === 1);
    // Another end is told of again.
    await host.tellEnding([ending("2026-11-27T16:30:00Z")]);
    await until(() => times(one.said()) === 2 && times(later.said()) === 2);
    expect(times(stopped.said())).toBe(0);
    for (const { child } of [one, stopped, later]) child.kill();
  });
});
