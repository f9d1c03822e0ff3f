/** What sudo mode concludes from what it sees of a key file. What it then does about it, test/host/sudo-hostile.host.test.ts shows. */

import { describe, expect, test } from "bun:test";
import { findingOf, obstacle, parseViews } from "../../../src/host/execute/sudo-key-file.ts";
import { keyFileOf } from "../../../src/host/key-file/key-path.ts";

const UID = 58_801;
const HOME = "/home/ext_a";
const SSH = `${HOME}/.ssh`;
const KEYS = `${SSH}/authorized_keys`;
const FILE = keyFileOf("%h/.ssh/authorized_keys", { name: "ext_a", uid: UID, gid: UID, home: HOME });

const [RIGHT_DIRECTORY, RIGHT_FILE] = [`41c0/${UID}/${UID}/4096`, `8180/${UID}/${UID}/4`];

/** The finding on a home of that mode, where stat(1) says so of `.ssh` and of the file: type and mode, uid, gid, size. */
function found(directory: string | undefined, file: string | undefined, home = 0o700) {
  const lines = [directory && `${directory}${SSH}`, file && `${file}${KEYS}`];
  return findingOf(FILE, "key\n", { home, views: parseViews(lines.join("\n")) });
}

describe("findingOf()", () => {
  test.each([
    ["all as it should be", RIGHT_DIRECTORY, RIGHT_FILE, undefined],
    ["no directory", undefined, undefined, `${SSH} is missing`],
    ["a link for a directory", `a1ff/${UID}/${UID}/9`, undefined, `${SSH} is not a directory`],
    ["another's directory", `41c0/0/${UID}/4096`, RIGHT_FILE, `${SSH} belongs to uid 0`],
    ["a directory that others enter", `41ed/${UID}/${UID}/4096`, RIGHT_FILE, `${SSH} has mode 0755`],
    ["no file", RIGHT_DIRECTORY, undefined, "it is missing"],
    ["a link", RIGHT_DIRECTORY, `a1ff/${UID}/${UID}/9`, "a link is in its place"],
    ["a directory", RIGHT_DIRECTORY, `41c0/${UID}/${UID}/4096`, "a directory or a special file is in its place"],
    ["a FIFO", RIGHT_DIRECTORY, `11a4/${UID}/${UID}/0`, "a directory or a special file is in its place"],
    ["another's file", RIGHT_DIRECTORY, `8180/0/${UID}/4`, `it belongs to 0:${UID}`],
    ["another group's file", RIGHT_DIRECTORY, `8180/${UID}/0/4`, `it belongs to ${UID}:0`],
    ["a file that others read", RIGHT_DIRECTORY, `81a4/${UID}/${UID}/4`, "it has mode 0644"],
    ["a file of another size", RIGHT_DIRECTORY, `8180/${UID}/${UID}/5`, "its content differs"],
  ])("of %s", (_, directory, file, difference) => {
    expect(found(directory, file).difference).toBe(difference);
  });

  test("of a home that its owner may not enter names that first", () => {
    expect(found(undefined, undefined, 0o500).difference).toBe("its home has mode 0500");
  });

  test.each([
    ["no file", undefined, [false, false]],
    ["a directory", `41c0/${UID}/${UID}/4096`, [false, false]],
    ["an empty file", `8180/${UID}/${UID}/0`, [false, false]],
    ["a file", RIGHT_FILE, [true, true]],
    // sshd follows it, whoever keeps what is behind it.
    ["a link", `a1ff/${UID}/${UID}/9`, [true, true]],
    ["root's file", `81a4/0/0/9`, [true, false]],
  ] as const)(
    "says of %s whether sshd could read a key there, and whether it could be the owner's",
    (_, file, keys) => {
      const { filled, hisOwn } = found(RIGHT_DIRECTORY, file);
      expect([filled, hisOwn]).toEqual([...keys]);
    },
  );
});

describe("obstacle()", () => {
  test.each([
    ["a file in the directory's place", `8180/${UID}/${UID}/4`, undefined, `${SSH} is not a directory; its owner has`],
    ["a link in the directory's place", `a1ff/${UID}/${UID}/9`, undefined, `${SSH} is not a directory; its owner has`],
    ["root's directory", "41c0/0/0/4096", undefined, `${SSH} belongs to another uid; remove it`],
    ["a directory in the file's place", RIGHT_DIRECTORY, RIGHT_DIRECTORY, `${KEYS} is not a file; its owner has`],
    ["a FIFO", RIGHT_DIRECTORY, `11a4/${UID}/${UID}/0`, `${KEYS} is not a file; its owner has`],
  ])("names %s", (_, directory, file, sentence) => {
    expect(obstacle(FILE, found(directory, file))).toStartWith(sentence);
  });

  test.each([
    ["nothing there", undefined, undefined],
    ["no file", RIGHT_DIRECTORY, undefined],
    ["the right file", RIGHT_DIRECTORY, RIGHT_FILE],
    ["a directory of another mode", `41ed/${UID}/${UID}/4096`, RIGHT_FILE],
    ["a file of another mode", RIGHT_DIRECTORY, `81a4/${UID}/${UID}/0`],
    ["a link in the file's place, which install(1) replaces", RIGHT_DIRECTORY, `a1ff/${UID}/${UID}/9`],
  ])("is none with %s", (_, directory, file) => {
    expect(obstacle(FILE, found(directory, file))).toBeUndefined();
  });
});
