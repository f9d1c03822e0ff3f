import { describe, expect, test } from "bun:test";
import { hostProfileOf } from "../../../src/domain/accounts/profiles.ts";
import {
  changedProfile,
  type NewProfile,
  parseNewProfile,
  parseProfileName,
} from "../../../src/domain/profiles/fields.ts";

const DROP: NewProfile = { name: "drop", kind: "sftp", directory: "/data/acme" };
const of = (input: NewProfile) => hostProfileOf(parseNewProfile(input));

describe("parseNewProfile()", () => {
  test("keeps what the kind has, in one form", () => {
    expect(of({ ...DROP, umask: "0027", idle: "15m", maxSessions: 2, banner: "/etc/issue.net" })).toEqual({
      ...{ name: "drop", kind: "sftp", secondFactor: "none", directory: "/data/acme", readOnly: false },
      ...{ umask: "027", idleSeconds: 900, maxSessions: 2, banner: "/etc/issue.net" },
    });
    expect(of({ name: "db", kind: "forward", targets: ["DB1:5432"], secondFactor: "verified" })).toEqual({
      ...{ name: "db", kind: "forward", secondFactor: "verified", targets: ["db1:5432"] },
    });
    const shell: NewProfile = { name: "dev", kind: "shell" };
    expect(of(shell)).toEqual({ name: "dev", kind: "shell", secondFactor: "none", forwarding: true });
    expect(of({ ...shell, forwarding: ["a:1"] })).toMatchObject({ forwarding: ["a:1"] });
    expect(of({ ...shell, forwarding: false, groups: ["docs"], sudo: ["restart"] })).toMatchObject({
      ...{ forwarding: false, groups: ["docs"], sudo: ["restart"] },
    });
    expect(of({ name: "d", kind: "command", command: "deploy" })).toMatchObject({ command: "deploy" });
  });

  test("asks for proof of the make of keys only where it takes security keys only, also later", () => {
    const proven = { secondFactor: "verified", attestation: "required" } as const;
    expect(of({ ...DROP, ...proven })).toMatchObject(proven);
    expect(of({ ...DROP, ...proven, attestation: "none" })).not.toHaveProperty("attestation");
    const said = "attestation can be required only with second_factor verified";
    expect(() => of({ ...DROP, attestation: "required" })).toThrow(said);
    const strong = parseNewProfile({ ...DROP, ...proven });
    expect(() => changedProfile(strong, { secondFactor: "none" })).toThrow(said);
    const plain = changedProfile(strong, { secondFactor: "none", attestation: "none" });
    expect([plain.secondFactor, plain.attestation]).toEqual(["none", "none"]);
  });

  test("refuses names that a group on a host could not have", () => {
    expect(parseProfileName(`a${"b".repeat(23)}`)).toHaveLength(24);
    for (const name of ["", "A", "1a", "-a", "a_b", "a b", "a\n", "ä", "a".repeat(25), "a*"]) {
      expect(() => parseProfileName(name)).toThrow("The name of a profile has 1 to 24 letters");
    }
  });

  test("refuses paths that sshd could read as anything else, or that lead elsewhere", () => {
    const wrong = [
      "",
      "/",
      "data",
      "/a/../b",
      "/a/./b",
      "/a//b",
      "/a/",
      "/a b",
      "/a%u",
      '/a"',
      "/a'",
      "/a\nb",
      "/a\\b",
      "/a*",
      "/a#",
      "/ä",
    ];
    for (const path of [...wrong, `/${"a".repeat(99)}/${"b".repeat(101)}`]) {
      expect(() => of({ ...DROP, directory: path })).toThrow("directory is a path from the root");
      expect(() => of({ ...DROP, banner: path })).toThrow("banner is a path from the root");
    }
  });

  test("refuses a field that breaks its rule", () => {
    const command: NewProfile = { name: "d", kind: "command", command: "deploy" };
    const shell: NewProfile = { name: "s", kind: "shell" };
    const refused = (input: NewProfile) => {
      try {
        return JSON.stringify(of(input));
      } catch (error) {
        return (error as Error).message;
      }
    };
    for (const umask of ["27", "89", "00027", "0x27", ""])
      expect(refused({ ...DROP, umask })).toContain("three octal digits");
    for (const name of ["", "../x", "a/b", ".a", "a b", "-a"])
      expect(refused({ ...command, command: name })).toContain("/etc/uam-commands");
    expect(refused({ ...shell, idle: "59s" })).toBe("idle is at least 1m, not 59s");
    expect(refused({ ...shell, idle: "31d" })).toContain("longer than the maximum");
    for (const maxSessions of [0, 1001, 1.5]) expect(refused({ ...shell, maxSessions })).toContain("from 1 to 1000");
    expect(refused({ ...shell, forwarding: [] })).toContain("a list of at least one target");
    expect(refused({ ...shell, sudo: ["../all"] })).toBe('Not the name of a sudo template: "../all"');
    expect(refused({ ...shell, groups: ["a b"] })).toBe('Not the name of a group: "a b"');
    expect(refused({ ...shell, groups: Array.from({ length: 21 }, (_, at) => `g${at}`) })).toContain("More than 20");
  });

  test("refuses fields of other kinds, and a kind without what it needs", () => {
    expect(() => of({ name: "f", kind: "forward", targets: ["a:1"], directory: "/a" })).toThrow(
      "A profile of the kind forward has no directory",
    );
    expect(() => of({ name: "f", kind: "forward", targets: ["a:1"], maxSessions: 1 })).toThrow("has no max_sessions");
    expect(() => of({ ...DROP, sudo: ["x"] })).toThrow("A profile of the kind sftp has no sudo");
    expect(() => of({ name: "f", kind: "forward" })).toThrow("A profile of the kind forward needs targets");
    expect(() => of({ name: "f", kind: "sftp" })).toThrow("A profile of the kind sftp needs directory");
    expect(() => of({ name: "f", kind: "command" })).toThrow("A profile of the kind command needs command");
  });
});

test("changedProfile() changes what is given, and takes away what is null", () => {
  const before = parseNewProfile({ ...DROP, umask: "027", idle: "5m" });
  expect(changedProfile(before, { readOnly: true, idle: null, umask: null })).toEqual({
    ...before,
    ...{ readOnly: true, idleSeconds: null, umask: null },
  });
  expect(() => changedProfile(before, { targets: [] })).toThrow("has no targets");
});
