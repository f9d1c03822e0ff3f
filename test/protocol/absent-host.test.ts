import { afterAll, describe, expect, test } from "bun:test";
import { ABSENT_HOST } from "../../src/protocol/absent-host.ts";
import type { Account, Host } from "../../src/protocol/host.ts";
import { createTestApp } from "../support/app.ts";
import { createTestCli } from "../support/cli.ts";

const cli = await createTestCli({ UAM_LOCAL_HOST: "off" });
afterAll(() => cli.close());

const account: Account = { name: "ext_alice", uid: 20_000, expireAt: new Date(), open: true, keys: [] };

describe("ABSENT_HOST", () => {
  test("takes every change as done, owes nothing, and has nothing to show", async () => {
    const host = ABSENT_HOST;
    expect(await host.presence(account)).toBe("present");
    expect(await host.shutAccount(account)).toEqual({ refused: true, owed: [] });
    expect(await host.removeAccount(account)).toEqual({ refused: true, owed: [] });
    expect(await host.takeKey(account, "SHA256:x")).toEqual({ rewritten: true, owed: [] });
    expect(await host.narrowKeys(account)).toEqual([]);
    expect(await host.shortenAccount(account)).toEqual([]);
    expect(await host.narrowProfile({ ...account, profile: "drop" })).toEqual({ refused: true, owed: [] });
    expect(await host.holdProfiles([{ name: "drop", kind: "sftp", secondFactor: "none" }], "take")).toEqual([
      { name: "drop", state: "applied" },
    ]);
    expect(await host.reconcile([account], false)).toEqual([]);
    expect([await host.nameTaken("root"), await host.uidTaken(0)]).toEqual([false, false]);
    expect([await host.findAccount("root"), await host.highestUid(0, 60_000)]).toEqual([undefined, undefined]);
    expect([await host.hostKeys(), await host.sessions(account)]).toEqual([[], []]);
    expect(await host.endSession(account, "1")).toBe("gone");
    expect(await host.logins("from here")).toEqual({ logins: [], next: "from here" });
  });

  test("plans nothing, and does not even ask", async () => {
    const asked: string[] = [];
    const plan = await ABSENT_HOST.planned(async (host: Host) => asked.push(host.mode));
    expect({ plan, asked }).toEqual({ plan: [], asked: [] });
  });
});

describe("UAM_LOCAL_HOST=off", () => {
  test("a user lives and ends without a word about the host", async () => {
    const mail = ["--email", "alice@example.org"];
    for (const args of [
      ["user", "create", "alice", ...mail],
      ["user", "disable", "alice"],
      ["user", "enable", "alice"],
      ["user", "extend", "alice", "--days", "30"],
    ]) {
      const { code, stderr } = await cli.run(args);
      expect({ args, code, stderr: stderr.match(/would|useradd|chage|host/g) }).toEqual({
        args,
        code: 0,
        stderr: null,
      });
    }
    expect(await cli.json(["user", "show", "alice"])).toMatchObject({ status: "active", host_account: "ext_alice" });
    expect((await cli.run(["user", "delete", "alice", "--yes"])).code).toBe(0);
    expect((await cli.json(["audit", "list", "--action", "user.delete"])).items).toMatchObject([{ result: "success" }]);
  });

  test("says what is not there", async () => {
    await cli.run(["user", "create", "bob", "--email", "bob@example.org"]);
    const said = async (...args: string[]) => {
      const { code, stderr } = await cli.run(args);
      return `${code} ${stderr.trim()}`;
    };
    expect(await said("lock", "bob")).toBe(
      "1 uam: UAM_LOCAL_HOST is off, so there is no account to shut here. uam user disable bob takes the access away",
    );
    expect(await said("reconcile")).toBe("0 UAM_LOCAL_HOST is off: there is no host to compare with.");
    expect(await said("user", "rebuild", "bob", "--yes")).toBe(
      "1 uam: This service manages no host of its own: nothing is missing",
    );
    expect(await said("install", "--mode", "direct", "--dry-run")).toBe(
      "1 uam: uam install sets up the host that it runs on, and UAM_LOCAL_HOST is off: unset it",
    );
  });

  test("uam doctor looks at nothing of the host", async () => {
    const { stdout } = await cli.run(["doctor", "--json"]);
    const findings: readonly { area: string; finding: string }[] = JSON.parse(stdout);
    const areas = new Set(findings.map(({ area }) => area));
    expect([areas.has("sshd"), areas.has("accounts")]).toEqual([false, false]);
    expect(findings.filter(({ area }) => area === "host")).toEqual([
      expect.objectContaining({ finding: "UAM_LOCAL_HOST is off: the service manages no host of its own" }),
    ]);
  });

  test("is not put together with a mode that changes a host", async () => {
    const { code, stderr } = await cli.run(["user", "list"], {
      variables: { ...cli.variables, UAM_LOCAL_HOST: "off", UAM_HOST_MODE: "direct" },
    });
    expect(code).toBe(78);
    expect(stderr).toContain("UAM_HOST_MODE=direct changes a host, and UAM_LOCAL_HOST=off says that there is none");
  });

  test("GET /me and mails name a host only where they are told of one", async () => {
    for (const [variables, ssh] of [
      [{ UAM_LOCAL_HOST: "off" }, null],
      [{ UAM_LOCAL_HOST: "off", UAM_SSH_HOST: "jump.example.org" }, { command: "ssh ext_carol@jump.example.org" }],
    ] as const) {
      const app = await createTestApp(variables);
      try {
        const { client } = await app.user("carol");
        const { body } = await client.call("GET", "/me");
        if (ssh === null) expect(body.data.ssh).toBeNull();
        else expect(body.data.ssh).toMatchObject(ssh);
        const mails = (await app.mails()).map((mail) => JSON.stringify(mail)).join("\n");
        expect(mails.includes("ssh ext_carol@")).toBe(ssh !== null);
        expect(mails.includes("it is not the one of this service")).toBe(ssh === null);
      } finally {
        await app.close();
      }
    }
  });
});
