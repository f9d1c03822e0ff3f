import { describe, expect, test } from "bun:test";
import { type Caller, findHostUser, type HostUser, operatorOf } from "../../src/runtime/operator.ts";

const USERS: readonly HostUser[] = [
  { name: "root", uid: 0 },
  { name: "alice", uid: 1000 },
  { name: "bob", uid: 1001 },
  { name: "uam", uid: 990 },
  { name: "a\u001b[31mb\nc", uid: 1002 },
];
const find = (key: string) => USERS.find(({ name, uid }) => key === name || key === String(uid));

function nameOf(caller: Partial<Caller>): string {
  return operatorOf({ uid: 0, loginUid: "4294967295", variables: {}, find, ...caller }).name;
}

describe("operatorOf", () => {
  test("operatorOf() believes the kernel before anything that can be set", () => {
    const variables = { SUDO_USER: "bob", SUDO_UID: "1001" };
    expect(nameOf({ loginUid: "1000\n", variables })).toBe("alice");
    expect(nameOf({ loginUid: "0", variables })).toBe("root");
    expect(nameOf({ loginUid: "1000", uid: 990 })).toBe("alice");
    expect(nameOf({ loginUid: "4242", variables })).toBe("uid 4242");
  });

  test("operatorOf() takes the account before sudo if nobody logged in and the account is real", () => {
    for (const loginUid of ["4294967295", undefined, ""]) {
      expect(nameOf({ loginUid, variables: { SUDO_USER: "alice", SUDO_UID: "1000" } })).toBe("alice");
    }
    expect(nameOf({ variables: { SUDO_UID: "1001" } })).toBe("bob");
    expect(nameOf({ variables: { SUDO_USER: "alice" } })).toBe("alice");
    expect(nameOf({ variables: { SUDO_USER: "mallory" } })).toBe("root");
    expect(nameOf({ variables: { SUDO_USER: "alice", SUDO_UID: "1001" } })).toBe("root");
    expect(nameOf({ variables: { SUDO_USER: "", SUDO_UID: "" } })).toBe("root");
    expect(nameOf({ variables: { SUDO_USER: "a\u001b[31mb\nc" } })).toBe("root");
  });

  test("operatorOf() takes it only from root and from the service's own account, which root switches to", () => {
    expect(nameOf({ uid: 1000, variables: { SUDO_USER: "bob", SUDO_UID: "1001" } })).toBe("alice");
    expect(nameOf({ uid: 990, variables: { SUDO_USER: "bob", SUDO_UID: "1001" } })).toBe("bob");
    expect(nameOf({ uid: 990 })).toBe("uam");
  });

  test("operatorOf() names no account with unprintable characters", () => {
    expect(nameOf({ loginUid: "1002" })).toBe("uid 1002");
    expect(nameOf({ uid: 1002 })).toBe("uid 1002");
  });

  test("findHostUser() finds by name and by uid, and nobody by anything else", () => {
    expect(findHostUser("root")).toEqual({ name: "root", uid: 0 });
    expect(findHostUser("0")).toEqual({ name: "root", uid: 0 });
    for (const key of ["", "no-such-account", "--help", "a\nb"]) expect(findHostUser(key)).toBeUndefined();
  });
});
