import { describe, expect, test } from "bun:test";
import { renderEnvironment, withKeyFile } from "../../src/install/environment.ts";
import { chooseKeyFile, planInstall } from "../../src/install/install.ts";
import { type MoveSettings, planMove } from "../../src/install/move-keys.ts";
import type { Step } from "../../src/install/plan.ts";
import type { InstallSettings } from "../../src/install/settings.ts";
import { renderSshdDropIn } from "../../src/install/sshd-drop-in.ts";

const HOMES = "%h/.ssh/authorized_keys";
const CENTRAL = "/var/lib/uam/keys/%u/authorized_keys";
const installed: InstallSettings = {
  ...{ mode: "direct", source: "/usr/bin/uam", homeBase: "/home", sudoers: undefined, sshUnit: "ssh.service" },
  ...{ authorizedKeysFile: HOMES, processes: 500 },
};

/** The move from where the key files are, with the places in sshd's configuration. */
function move(authorizedKeysFile: string, told: string | undefined) {
  const texts = {
    environment: renderEnvironment("direct", authorizedKeysFile),
    dropIn: told === undefined ? undefined : renderSshdDropIn(told),
  };
  return planMove({ ...installed, ...texts, sshUnit: "ssh.service", authorizedKeysFile } satisfies MoveSettings);
}

function textOf(steps: readonly Step[] | undefined, path: string): string {
  const step = steps?.find((candidate) => candidate.kind === "file" && candidate.path === path);
  return step?.kind === "file" ? step.content : "";
}

const placesTold = (steps: readonly Step[] | undefined) =>
  /^ *AuthorizedKeysFile (.*)$/m.exec(textOf(steps, "/etc/ssh/sshd_config.d/50-uam.conf"))?.[1];

describe("chooseKeyFile", () => {
  test("chooseKeyFile() keeps key files out of the homes at a first installation in direct mode, and in no other case", () => {
    const first = { isFirst: true, isGiven: false };
    expect(chooseKeyFile("direct", HOMES, first)).toBe(CENTRAL);
    expect(chooseKeyFile("sudo", HOMES, first)).toBe(HOMES);
    expect(chooseKeyFile("direct", HOMES, { ...first, isFirst: false })).toBe(HOMES);
    expect(chooseKeyFile("direct", "/srv/keys/%u", { ...first, isGiven: true })).toBe("/srv/keys/%u");
    expect(chooseKeyFile("direct", HOMES, { ...first, isGiven: true })).toBe(HOMES);
  });

  test("planInstall() creates their directory, and records the place for the service and for sshd", () => {
    const steps = planInstall({ ...installed, authorizedKeysFile: CENTRAL });
    expect(steps).toContainEqual({
      kind: "directory",
      path: "/var/lib/uam/keys",
      mode: 0o711,
      owner: "root",
      group: "root",
    });
    expect(textOf(steps, "/etc/uam/uam.env")).toContain(`\nUAM_AUTHORIZED_KEYS_FILE=${CENTRAL}\n`);
    expect(placesTold(steps)).toBe(CENTRAL);
    expect(textOf(steps, "/etc/systemd/system/uam.service")).toMatch(/^ReadWritePaths=.* \/var\/lib\/uam\/keys( |$)/m);
    const inHomes = planInstall(installed);
    expect(textOf(inHomes, "/etc/uam/uam.env")).toContain(`\n#UAM_AUTHORIZED_KEYS_FILE=${HOMES}\n`);
    expect(JSON.stringify(inHomes)).not.toContain("/var/lib/uam/keys");
  });
});

describe("withKeyFile", () => {
  test("withKeyFile() changes only that line, wherever and however it is written", () => {
    const line = `UAM_AUTHORIZED_KEYS_FILE=${CENTRAL}`;
    const other = "# UAM_AUTHORIZED_KEYS_FILE is below\nUAM_LISTEN=a\n";
    expect(withKeyFile(`${other}#UAM_AUTHORIZED_KEYS_FILE=${HOMES}\nA=1\n`, CENTRAL)).toBe(`${other}${line}\nA=1\n`);
    expect(withKeyFile(`${other}UAM_AUTHORIZED_KEYS_FILE="x"\nA=1\n`, CENTRAL)).toBe(`${other}${line}\nA=1\n`);
    expect(withKeyFile(`#UAM_AUTHORIZED_KEYS_FILE=x\nUAM_AUTHORIZED_KEYS_FILE=y\n`, CENTRAL)).toBe(
      `#UAM_AUTHORIZED_KEYS_FILE=x\n${line}\n`,
    );
    expect(withKeyFile(`${other}A=1`, CENTRAL)).toBe(`${other}A=1\n${line}\n`);
  });
});

describe("planMove", () => {
  test("planMove() has sshd read both places before the service switches, and only one at the end", () => {
    const plan = move(HOMES, HOMES);
    expect(placesTold(plan.prepare)).toBe(`${CENTRAL} ${HOMES}`);
    expect(textOf(plan.prepare, "/etc/uam/uam.env")).toBe("");
    expect(textOf(plan.change, "/etc/uam/uam.env")).toContain(`\nUAM_AUTHORIZED_KEYS_FILE=${CENTRAL}\n`);
    expect(textOf(plan.change, "/etc/systemd/system/uam.service")).toContain("/var/lib/uam/keys");
    expect(plan.change.at(-1)).toMatchObject({ argv: ["systemctl", "try-restart", "uam.service"], when: "always" });
    expect(placesTold(plan.finish)).toBe(CENTRAL);
  });

  test("planMove() removes old files in the new place, but nothing that an earlier attempt wrote", () => {
    const emptied = (...given: Parameters<typeof move>) => move(...given).prepare.some(({ kind }) => kind === "empty");
    expect(emptied(HOMES, HOMES)).toBe(true);
    expect(emptied(HOMES, undefined)).toBe(true);
    expect(emptied(HOMES, `${CENTRAL} ${HOMES}`)).toBe(false);
    expect(emptied(CENTRAL, `${CENTRAL} ${HOMES}`)).toBe(false);
  });

  test("planMove() continues after an interruption at any step, and is only the last part once it is done", () => {
    // Interrupted after uam.env was written: the old place is known from sshd's drop-in.
    expect(placesTold(move(CENTRAL, `${CENTRAL} ${HOMES}`).prepare)).toBe(`${CENTRAL} ${HOMES}`);
    expect(placesTold(move(CENTRAL, `${CENTRAL} ${HOMES}`).finish)).toBe(CENTRAL);
    // Interrupted before sshd was reloaded: it may still read the old place.
    for (const told of [CENTRAL, undefined]) {
      const done = move(CENTRAL, told);
      expect([done.prepare, done.change, placesTold(done.finish)]).toEqual([[], [], CENTRAL]);
      expect(done.finish).toContainEqual(
        expect.objectContaining({ argv: ["systemctl", "try-reload-or-restart", "ssh.service"] }),
      );
    }
  });
});
