import { expect, test } from "bun:test";
import { profileSentence } from "../../../src/shared/text/profile-sentence.ts";

test("profileSentence() says what may be done, and that nothing else may", () => {
  expect(profileSentence({ kind: "sftp", directory: "/data/acme" })).toBe(
    "may copy files to and from /data/acme, nothing else",
  );
  expect(profileSentence({ kind: "sftp", directory: "/data/acme", readOnly: true })).toBe(
    "may read files in /data/acme, nothing else",
  );
  expect(profileSentence({ kind: "forward", targets: ["a:1", "b:2", "c:3"] })).toBe(
    "may open connections to a:1, b:2 and c:3, nothing else",
  );
  expect(profileSentence({ kind: "command", command: "deploy" })).toBe("may run deploy, nothing else");
  expect(profileSentence({ kind: "shell", forwarding: true })).toBe(
    "may log in and run programs, and forward connections",
  );
  expect(profileSentence({ kind: "shell" })).toBe("may log in and run programs, and forward no connections");
  expect(profileSentence({ kind: "shell", forwarding: ["a:1"] })).toBe(
    "may log in and run programs, and forward connections to a:1 only",
  );
});
