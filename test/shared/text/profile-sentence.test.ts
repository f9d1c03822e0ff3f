import { expect, test } from "bun:test";
import { profileSentence, profileSentences, type ShownProfile } from "../../../src/shared/text/profile-sentence.ts";

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

test("profileSentences() says what may be done, what comes with it, and each limit", () => {
  const plain: ShownProfile = {
    ...{ kind: "sftp", directory: "/data/acme", read_only: false, umask: null, targets: [], forwarding: false },
    ...{
      command: null,
      idle: null,
      max_sessions: null,
      second_factor: "none",
      attestation: "none",
      groups: [],
      sudo: [],
      banner: null,
    },
  };
  expect(profileSentences(plain)).toEqual(["May copy files to and from /data/acme, nothing else."]);
  expect(profileSentences({ ...plain, read_only: true, umask: "027", idle: "30m", max_sessions: 1 })).toEqual([
    "May read files in /data/acme, nothing else.",
    "Sessions end after 30 minutes of silence.",
    "At most 1 session for each connection.",
    "New files get the umask 027.",
  ]);
  const shell = { ...plain, kind: "shell", forwarding: true, second_factor: "verified", idle: "1d1h30m" } as const;
  expect(
    profileSentences({
      ...shell,
      groups: ["docs", "web"],
      sudo: ["restart-web"],
      max_sessions: 2,
      banner: "/etc/motd",
    }),
  ).toEqual([
    "May log in and run programs, and forward connections.",
    "In the host's groups: docs and web.",
    "By sudo, what the host allows in restart-web.",
    "Only with a security key, with touch and PIN at each login.",
    "Sessions end after 1 day 1 hour 30 minutes of silence.",
    "At most 2 sessions for each connection.",
    "Before each login, the text in /etc/motd.",
  ]);
  expect(profileSentences({ ...shell, attestation: "required" })).toContain(
    "Only with a security key whose make is proven, with touch and PIN at each login.",
  );
});
