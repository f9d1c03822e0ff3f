import { describe, expect, test } from "bun:test";
import { foundIn, keyFilesOf } from "../../../src/host/adoption/found-keys.ts";

const DATA = "AAAAC3NzaC1lZDI1NTE5AAAAIFBr/dqzta2r51dmoGYcCCUUz9/JwQPGUaIvDOjL9QKs";
const PATH = "/home/wendy/.ssh/authorized_keys";
const ENTRY = { name: "wendy", uid: 1234, gid: 1234, home: "/home/wendy" };

describe("foundIn()", () => {
  test("has each key once, with what is around it in its line", () => {
    const text = `# ${DATA}\nfrom="10.0.0.0/8",command="a b" ssh-ed25519 ${DATA} laptop of wendy\nssh-ed25519 ${DATA}\n`;
    expect(foundIn(PATH, { text })).toEqual({
      path: PATH,
      keys: [
        {
          type: "ssh-ed25519",
          base64: DATA,
          fingerprint: "SHA256:LMtNT4ZVS3oBOs14Rk+nNQ/6CKP7t1wWqJNCWH3LIfU",
          options: 'from="10.0.0.0/8",command="a b"',
          comment: "laptop of wendy",
        },
      ],
      more: 0,
    });
  });

  test("keeps why a file may hold more, and no long text of its owner's", () => {
    const text = `ssh-ed25519 ${DATA} ${"x".repeat(100_000)}\n`;
    const { keys, problem } = foundIn(PATH, { text, problem: "is a link" });
    expect([keys[0]?.comment.length, problem]).toEqual([100, "is a link"]);
  });
});

describe("keyFilesOf()", () => {
  test("has sshd's default files where it does not answer, each once, and none for none", () => {
    const paths = (patterns?: readonly string[]) => keyFilesOf(patterns, ENTRY).map(({ path }) => path);
    expect(paths()).toEqual([PATH, `${PATH}2`]);
    expect(paths(["none"])).toEqual([]);
    expect(paths([".ssh/authorized_keys", "%h/.ssh/authorized_keys", "/etc/keys/%u"])).toEqual([
      PATH,
      "/etc/keys/wendy",
    ]);
  });

  test("says of a path that is not plain that it is strange", () => {
    expect(keyFilesOf(["../%u"], ENTRY)).toEqual([{ path: "../%u", strange: true }]);
  });
});
