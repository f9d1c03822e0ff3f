import { describe, expect, test } from "bun:test";
import { faultOfProfile } from "../../../src/host/profiles/profile-check.ts";
import { blocksIn, renderBlocks, renderUnprofiled, settingsOf } from "../../../src/host/profiles/sshd-blocks.ts";
import type { HostProfile } from "../../../src/protocol/profile.ts";

const SHELL: HostProfile = { name: "dev", kind: "shell", secondFactor: "none" };
const SFTP: HostProfile = { name: "drop", kind: "sftp", directory: "/srv/drop", secondFactor: "none" };
const FORWARD: HostProfile = {
  name: "db",
  kind: "forward",
  targets: ["db:5432", "[2001:db8::1]:5432"],
  secondFactor: "none",
};
const COMMAND: HostProfile = { name: "deploy", kind: "command", command: "deploy.sh", secondFactor: "verified" };
const ALL = [SHELL, SFTP, FORWARD, COMMAND];

function said(profile: HostProfile): Readonly<Record<string, string>> {
  return Object.fromEntries(settingsOf(profile).map(({ name, value }) => [name, value]));
}

describe("what sshd is told of a profile", () => {
  test("settingsOf() gives each kind what it may do, and nothing else", () => {
    const closed = { DisableForwarding: "yes", AllowTcpForwarding: "no", PermitOpen: "none", PermitListen: "none" };
    expect(said(SHELL)).toMatchObject({ ...closed, ForceCommand: "none", ChrootDirectory: "none", PermitTTY: "yes" });
    expect(said(SFTP)).toMatchObject({
      ...{ ...closed, ChrootDirectory: "/srv/drop", PermitTTY: "no" },
      ForceCommand: "internal-sftp -l INFO -d /%u",
    });
    expect(said({ ...SFTP, readOnly: true, umask: "027" }).ForceCommand).toBe("internal-sftp -l INFO -R -u 027 -d /%u");
    expect(said(FORWARD)).toMatchObject({
      ...{
        DisableForwarding: "no",
        AllowTcpForwarding: "local",
        AllowStreamLocalForwarding: "no",
        PermitListen: "none",
      },
      ...{ PermitOpen: "db:5432 [2001:db8::1]:5432", MaxSessions: "0", ForceCommand: "/bin/false", PermitTTY: "no" },
    });
    expect(said(COMMAND)).toMatchObject({
      ...{ ...closed, ForceCommand: "/etc/uam-commands/deploy.sh", SetEnv: "HOME=/ SHLVL=1", PermitTTY: "no" },
      ...{ PubkeyAuthOptions: "verify-required", AcceptEnv: "UAM_NONE" },
    });
    expect(
      said(COMMAND)
        .PubkeyAcceptedAlgorithms?.split(",")
        .every((name) => name.startsWith("sk-")),
    ).toBe(true);
  });

  test("settingsOf() forwards for a shell as the profile says, and never an agent or a tunnel", () => {
    expect(said({ ...SHELL, forwarding: true })).toMatchObject({
      ...{ DisableForwarding: "no", AllowTcpForwarding: "yes", PermitOpen: "any", X11Forwarding: "yes" },
      ...{ AllowAgentForwarding: "no", PermitTunnel: "no" },
    });
    expect(said({ ...SHELL, forwarding: ["db:5432"] })).toMatchObject({
      ...{ AllowTcpForwarding: "local", PermitOpen: "db:5432", PermitListen: "none", X11Forwarding: "no" },
    });
    expect(said({ ...SHELL, forwarding: [] })).toEqual(said(SHELL));
  });

  test("every block says all that any of them says of rights, so that nothing after it gives more", () => {
    const rights = (profile: HostProfile) => settingsOf(profile).map(({ name }) => name);
    const always = rights(SHELL);
    for (const profile of ALL) expect(rights(profile)).toEqual(expect.arrayContaining([...always]));
    const last = renderUnprofiled();
    // The two that let nobody out of a place need not be said where nobody gets in.
    for (const name of always.filter((one) => one !== "ChrootDirectory")) expect(last).toContain(`    ${name} `);
  });

  test("renderBlocks() sorts them, and blocksIn() reads back what is held", () => {
    const blocks = ALL.map((profile) => ({ profile, isShut: profile === COMMAND }));
    const text = renderBlocks(blocks);
    expect(renderBlocks(blocks.toReversed())).toBe(text);
    expect(blocksIn(text)).toEqual(blocks.toSorted((one, other) => (one.profile.name < other.profile.name ? -1 : 1)));
    expect(text).not.toContain("/etc/uam-commands/deploy.sh\n");
    expect(blocksIn(`${text}# profile: {"name":"x\n# profile: {"name":"Not one","kind":"shell"}\n`)).toHaveLength(4);
  });

  test("nothing that could be more than a value gets into a block", () => {
    const odd: readonly HostProfile[] = [
      { ...SHELL, name: "a b" },
      { ...SHELL, name: "a\nMatch all" },
      { ...SHELL, name: "-a" },
      { ...SFTP, directory: "/srv/%h" },
      { ...SFTP, directory: "/srv/a b" },
      { ...SFTP, directory: "/srv/../etc" },
      { ...SFTP, directory: "srv" },
      { ...SFTP, umask: "027 -d /" },
      { ...FORWARD, targets: ["db:5432\n    PermitTTY yes"] },
      { ...FORWARD, targets: ["*:*"] },
      { ...FORWARD, targets: ["db:0"] },
      { ...FORWARD, targets: ["db:65536"] },
      { ...FORWARD, targets: [] },
      { ...SHELL, forwarding: ["any"] },
      { ...COMMAND, command: "../bin/sh" },
      { ...COMMAND, command: "a b" },
      { ...COMMAND, command: ".x" },
      { ...SHELL, banner: '/etc/issue"' },
      { ...SHELL, groups: ["a,b"] },
      { ...SHELL, sudo: ["../x"] },
      { ...SHELL, idleSeconds: 1.5 },
      { ...SHELL, maxSessions: 0 },
    ];
    for (const profile of odd) {
      expect([profile, faultOfProfile(profile) === undefined]).toEqual([profile, false]);
      expect(() => renderBlocks([{ profile, isShut: false }])).toThrow();
    }
    for (const profile of ALL) expect(faultOfProfile(profile)).toBeUndefined();
  });
});
