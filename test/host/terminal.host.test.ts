/** The operator's terminal in sudo mode: nothing that runs as an account or as the service's user gets it. */

import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { readProcess } from "../../src/host/processes/processes.ts";
import { describeOnHost } from "../support/host-account.ts";
import { createSudoLab, NAME, run, SERVICE, type SudoLab, UID } from "../support/sudo-lab.ts";
import { atTerminal, startThief, type Thief, type Typed } from "../support/terminal.ts";
import { until } from "../support/until.ts";

setDefaultTimeout(180_000);

const BEHIND = `${process.execPath} ${join(import.meta.dir, "../support/behind-terminal.ts")}`;
const DRIVER = join(import.meta.dir, "../support/terminal-driver.ts");
const AS_SERVICE = `setpriv --reuid ${SERVICE} --regid ${SERVICE} --init-groups --`;
/** Long enough to be caught; the test ends it. */
const SLEEP = "/usr/bin/sleep 55";
/** ENXIO of open(2): there is no controlling terminal. */
const NO_TERMINAL = -6;

describeOnHost("the operator's terminal in sudo mode", () => {
  let lab: SudoLab;
  let thief: Thief | undefined;
  let terminal: Typed | undefined;
  beforeAll(() => {
    lab = createSudoLab();
    lab.install(`${lab.rules()}\n${SERVICE} ALL=(%uam-t-owners) NOPASSWD: ${SLEEP}\n`);
    expect(run("groupadd", "-f", "uam-t-owners").status).toBe(0);
    expect(run("useradd", "-M", "-u", String(UID), "-U", "-G", "uam-t-owners", NAME).status).toBe(0);
  });
  afterEach(() => {
    thief?.stop();
    terminal?.process.kill("SIGKILL");
  });
  afterAll(() => {
    lab.cleanUp();
    lab.remove();
    run("groupdel", "uam-t-owners");
  });

  test("the attacker of these tests gets the terminal of what has one", async () => {
    thief = await startThief(NAME, "sleep");
    terminal = atTerminal(`setpriv --reuid ${NAME} --regid ${NAME} --clear-groups -- ${SLEEP}`);
    const { opened, terminal: number } = await thief.next();
    expect(opened).toBeGreaterThan(2);
    expect(number).not.toBe(0);
  });

  test("what runs as an account for an operator's command has no terminal, and no descriptor of it", async () => {
    thief = await startThief(NAME, "sleep");
    terminal = atTerminal(`exec 7<>/dev/tty; ${AS_SERVICE} ${process.execPath} ${DRIVER} ${NAME} ${SLEEP}`);
    const robbed = await thief.next();
    process.kill(robbed.pid, "SIGKILL");
    expect(robbed).toMatchObject({ opened: NO_TERMINAL, terminal: 0 });
    expect(robbed.descriptors.filter((path) => /tty|pts|ptmx/.test(path))).toEqual([]);
    await terminal.ended;
    expect(terminal.shown()).toContain('"exitCode"');
  });

  test("what runs as the service's user for root has no terminal, and no descriptor of it", async () => {
    thief = await startThief(SERVICE, "sleep");
    terminal = atTerminal(`exec 7<>/dev/tty 8</dev/tty; ${BEHIND} ${SERVICE} ${SLEEP}`);
    const robbed = await thief.next();
    expect(robbed).toMatchObject({ opened: NO_TERMINAL, terminal: 0 });
    expect(robbed.descriptors.filter((path) => /tty|pts|ptmx/.test(path))).toEqual([]);
    terminal.type("\x03");
    // script(1) ends as the shell does: by the signal that Ctrl-C sends, passed on and come back.
    expect(await terminal.ended).toBe(130);
    await until(() => readProcess(robbed.pid) === undefined);
  });

  test("root's process passes on lines, errors, the width and how the program ended, and nothing that a terminal obeys", async () => {
    terminal = atTerminal(`stty cols 77; ${BEHIND} ${SERVICE} ${BEHIND} --inside line`);
    await until(() => terminal?.shown().includes("? ") ?? false);
    terminal.type("yes\n");
    expect(await terminal.ended).toBe(0);
    expect(terminal.shown()).toContain('{"columns":77,"isError":true,"isBoth":true,"asks":true,"isTTY":false}');
    expect(terminal.shown()).toContain('line: "yes"');

    terminal = atTerminal(
      `${BEHIND} ${SERVICE} sh -c 'printf "\\033]0;x\\007\\302\\233n\\303\\274\\n"; echo no >&2; exit 7'`,
    );
    expect(await terminal.ended).toBe(7);
    expect(terminal.shown()).toContain("\\x1b]0;x\\x07\\x9bn\u00fc\r\n");
    expect(terminal.shown()).toContain("no\r\n");
  });

  test("what is typed is read only when the program asks, and what is no terminal is inherited", async () => {
    const piped = `echo kept | { ${BEHIND} ${SERVICE} ${BEHIND} --inside > /dev/null 2>&1; cat; }`;
    terminal = atTerminal(`${piped}; ${BEHIND} ${SERVICE} true; read next; echo "read $next"`);
    terminal.type("typed before\n");
    expect(await terminal.ended).toBe(0);
    expect(terminal.shown()).toContain("kept\r\n");
    expect(terminal.shown()).toContain("read typed before\r\n");
  });
});
