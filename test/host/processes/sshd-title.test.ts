import { describe, expect, test } from "bun:test";
import { readTitle } from "../../../src/host/processes/sshd-title.ts";
import { recordedTitles } from "../../support/recordings.ts";
import { RECORDED_VERSIONS } from "../../support/sshd-recordings.ts";

/** Whose process each title that was recorded on a version is: the account's that it names, or nobody's. */
const SAYS: readonly (readonly [title: RegExp, says: string])[] = [
  [/^[^ ]*\/sshd(-[a-z]+)?\0/, "nobody"],
  [/ \[listener\] \d of 100-200 startups$/, "nobody"],
  [/^sshd(-[a-z]+)?: \[(accepted|rexeced|net|session-auth|session-auth early)\]$/, "nobody"],
  [/^sshd(-[a-z]+)?: ext_a( \[(priv|net|pam|postauth)\]|@notty|@pts\/1)?$/, "ext_a"],
  [/^sshd(-[a-z]+)?: stranger( \[(priv|net|pam|postauth)\]|@notty|@pts\/1)?$/, "stranger"],
  // A name that there is not: nobody's account.
  [/^sshd(-[a-z]+)?: unknown \[(priv|net)\]$/, "unknown"],
];

describe.each([...RECORDED_VERSIONS])("all titles recorded of OpenSSH %s", (version) => {
  const titles = recordedTitles(version);

  for (const { owner, title } of titles) {
    test(`${JSON.stringify(title)} of ${owner} is understood`, () => {
      const says = SAYS.filter(([pattern]) => pattern.test(title)).map(([, whose]) => whose);
      expect(says).toHaveLength(1);
      const [whose = ""] = says;
      expect(readTitle(title)).toEqual(
        whose === "nobody" ? { kind: "nobody" } : { kind: "connection", account: whose },
      );
    });
  }

  test("whoever is logged in has a process of root's that names them, and one of their own", () => {
    for (const account of ["ext_a", "stranger"])
      for (const owner of ["root", account]) {
        const theirs = titles.filter((it) => it.owner === owner).map(({ title }) => readTitle(title));
        expect(theirs).toContainEqual({ kind: "connection", account });
      }
  });
});

/** Titles of processes that live for too short a time, or seldom, and those of before: recorded from /proc/PID/cmdline, a logged-in ext_a and strangers beside it. */
const RECORDED: Readonly<Record<string, readonly (readonly [title: string, says: string])[]>> = {
  "9.2": [
    ["sshd: /usr/sbin/sshd -D [listener] 0 of 10-100 startups", "nobody"],
    ["/usr/sbin/sshd\0-D\0-R\0", "nobody"],
    ["sshd: [accepted]", "nobody"],
    ["sshd: [net]", "nobody"],
    ["sshd: ext_a [priv]", "ext_a"],
    ["sshd: ext_a [net]", "ext_a"],
    ["sshd: ext_a [pam]", "ext_a"],
    ["sshd: unknown [priv]", "unknown"],
    ["sshd: ext_a", "ext_a"],
    ["sshd: ext_a@pts/0", "ext_a"],
    ["sshd: ext_a@notty", "ext_a"],
  ],
  "10.0": [
    ["sshd: /usr/sbin/sshd -D [listener] 1 of 10-100 startups", "nobody"],
    ["sshd-session: [accepted]", "nobody"],
    ["sshd-session: ext_a [priv]", "ext_a"],
    ["sshd-auth: ext_a [net]", "ext_a"],
    ["sshd-session: ext_a", "ext_a"],
    ["sshd-session: ext_a@pts/0", "ext_a"],
    ["sshd-session: root@notty", "root"],
  ],
  "10.6": [
    ["/usr/lib/openssh/sshd-session\0-D\0-R\0", "nobody"],
    ["sshd-session: [rexeced]", "nobody"],
    ["sshd-session: [accepted]", "nobody"],
    ["sshd-auth: [session-auth early]", "nobody"],
    ["sshd-auth: [session-auth]", "nobody"],
    ["sshd-session: ext_a [priv]", "ext_a"],
    ["sshd-session: ext_a [postauth]", "ext_a"],
    ["sshd-session: ext_a@internal-sftp", "ext_a"],
  ],
};

for (const [version, titles] of Object.entries(RECORDED)) {
  describe(`readTitle() of OpenSSH ${version}`, () => {
    for (const [title, says] of titles) {
      test(`${JSON.stringify(title)} is of ${says}`, () => {
        expect(readTitle(title)).toEqual(
          says === "nobody" ? { kind: "nobody" } : { kind: "connection", account: says },
        );
      });
    }
  });
}

describe("readTitle()", () => {
  test.each(["sshd-session: ext_a [audited]", "sshd-worker: ext_a [priv]", "sshd: ext_a@vsock/3 [late]"])(
    "takes %j, of no known stage, for a connection of the account that it begins with",
    (title) => expect(readTitle(title)).toEqual({ kind: "connection", account: "ext_a" }),
  );

  test("takes a name with blanks for what it is", () => {
    expect(readTitle("sshd: domain users [priv]")).toEqual({ kind: "connection", account: "domain users" });
  });

  test.each([
    "sshd-session: connection of ext_a",
    "sshd: [waiting]",
    "sshd-session: [postauth] ext_a",
    "sshd: 7 clients",
  ])("does not take %j for anything: it is not understood", (title) =>
    expect(readTitle(title)).toEqual({ kind: "unknown" }),
  );

  test.each(["", "bash", "sshdump: ext_a [priv]", "/usr/bin/less\0/var/log/sshd: x", "sh\0-c\0/usr/sbin/sshd -T"])(
    "does not take %j for sshd's",
    (title) => expect(readTitle(title)).toBeUndefined(),
  );

  test("takes a listening sshd for nobody's, whatever its options name", () => {
    const listener = 'sshd: /usr/sbin/sshd -D -o "AllowUsers ext_a [priv]" [listener] 0 of 10-100 startups';
    expect(readTitle(listener)).toEqual({ kind: "nobody" });
    expect(readTitle("/usr/sbin/sshd\0-D\0-o\0AllowUsers=ext_a [priv]")).toEqual({ kind: "nobody" });
  });
});
