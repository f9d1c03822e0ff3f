import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createTestCli, type TestCli } from "../../../support/cli.ts";

let cli: TestCli;
beforeAll(async () => {
  cli = await createTestCli();
});
afterAll(() => cli.close());

const auditOf = async (username: string) =>
  (await cli.json(["audit", "list", "--resource-type", "user"])).items.filter(
    (row: { resource_id: string }) => row.resource_id === username,
  );

describe("uam user create", () => {
  test("create prints the record and is audited as the operator's", async () => {
    const { code, stdout } = await cli.run([
      "user",
      "create",
      "alice",
      "--email",
      "alice@example.org",
      "--ttl-days",
      "5",
    ]);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^username {11}alice\nhost_account {7}ext_alice\nemail {14}alice@example\.org\nfull_name {10}-\nsupervisor {9}-$/m,
    );
    const [row] = await auditOf("1");
    expect(row).toMatchObject({ actor_type: "cli", actor: "olga", action: "user.create", result: "success", ip: "" });
  });

  test("create --json prints the API's record", async () => {
    const record = await cli.json(["user", "create", "bob", "--email", "bob@example.org", "--purpose", "a test"]);
    expect(Object.keys(record)).toEqual([
      ...["id", "username", "host_account", "email", "full_name", "supervisor", "purpose", "note"],
      ...["source_networks", "company_id", "manager", "sponsor_email", "profile", "status", "expire_at"],
      ...["starts_at", "hours", "hours_end", "on_request", "access", "access_changes_at", "disabled_at", "welcome"],
      ...["created_at", "updated_at"],
    ]);
    expect(record).toMatchObject({ username: "bob", supervisor: "", purpose: "a test", disabled_at: null });
  });

  test("create logs the planned changes in dry-run mode", async () => {
    const { stderr } = await cli.run(["user", "create", "carol", "--email", "carol@example.org"]);
    expect(stderr).toContain("/usr/sbin/useradd");
  });

  test("create of a taken name fails with a sentence and exit 1", async () => {
    const { code, stdout, stderr } = await cli.run(["user", "create", "alice", "--email", "other@example.org"]);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toEndWith("uam: The username alice is taken\n");
  });
});

describe("uam user list", () => {
  test("list aligns its columns and shows each user", async () => {
    const { code, stdout } = await cli.run(["user", "list"]);
    const lines = stdout.split("\n");
    expect(code).toBe(0);
    expect(lines[0]).toMatch(/^ID {2}USERNAME {2}STATUS {2}EXPIRES {15}EMAIL {14}SUPERVISOR {2}PURPOSE$/);
    expect(lines.at(-2)).toMatch(
      /^1 {3}alice {5}active {2}\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ {2}alice@example\.org {2}- {11}-$/,
    );
  });

  test("list is paged, and says that there is more", async () => {
    const { stdout, stderr } = await cli.run(["user", "list", "--page-size", "2"]);
    expect(stdout.trim().split("\n")).toHaveLength(3);
    expect(stderr).toBe("3 in all; --page 2 shows the next.\n");
    expect(await cli.json(["user", "list", "--page-size", "2", "--page", "2"])).toMatchObject({
      total: 3,
      items: [{ username: "alice" }],
    });
  });

  test("list filters by status and supervisor", async () => {
    expect((await cli.json(["user", "list", "--status", "disabled"])).total).toBe(0);
    expect((await cli.json(["user", "list", "--supervisor", "nobody"])).total).toBe(0);
  });

  test("list takes a status in any case", async () => {
    for (const status of ["active", "Active", "ACTIVE"])
      expect([status, (await cli.json(["user", "list", "--status", status])).total]).toEqual([status, 3]);
  });

  test("list finds who was never there, and who has been silent", async () => {
    const { total, items } = await cli.json(["user", "list", "--last-used", "never"]);
    expect(total).toBe(3);
    expect(items[0]).toMatchObject({ last_login_at: null, active_keys: 0, last_key_use_at: null });
    expect((await cli.json(["user", "list", "--silent-for", "1d"])).total).toBe(0);
    const { code, stderr } = await cli.run(["user", "list", "--silent-for", "soon"]);
    expect(code).toBe(2);
    expect(stderr).toContain('Not a duration such as "90d" or "1d12h": "soon"');
  });

  test("list searches, and sorts either way round", async () => {
    const names = async (...options: string[]) =>
      (await cli.json(["user", "list", ...options])).items.map(({ username }: { username: string }) => username);
    expect(await names("--search", "A TEST")).toEqual(["bob"]);
    expect(await names("--search", "%")).toEqual([]);
    expect(await names("--sort", "username")).toEqual(["alice", "bob", "carol"]);
    expect(await names("--sort=-username")).toEqual(["carol", "bob", "alice"]);
    expect((await cli.run(["user", "list", "--sort", "email"])).code).toBe(2);
  });

  test("list cuts long texts to the terminal's width", async () => {
    await cli.run(["user", "create", "dora", "--email", "dora@example.org", "--purpose", "x".repeat(300)]);
    const narrow = await cli.run(["user", "list"], { columns: 90 });
    expect(Math.max(...narrow.stdout.split("\n").map((line) => line.length))).toBeLessThanOrEqual(90);
    expect(narrow.stdout).toContain("…");
    expect((await cli.run(["user", "list"])).stdout).toContain("x".repeat(300));
  });
});

describe("uam user show", () => {
  test("show finds by name, host account and id", async () => {
    for (const reference of ["alice", "ext_alice", "1"]) {
      expect(await cli.json(["user", "show", reference])).toMatchObject({ id: 1, username: "alice" });
    }
  });

  test("show prefers a name of digits to an id", async () => {
    await cli.run(["user", "create", "1", "--email", "one@example.org"]);
    expect((await cli.json(["user", "show", "1"])).username).toBe("1");
    await cli.run(["user", "delete", "1", "--yes"]);
    expect((await cli.json(["user", "show", "1"])).username).toBe("alice");
  });

  test("show of an unknown user fails", async () => {
    expect(await cli.run(["user", "show", "zoe"])).toEqual({
      code: 1,
      stdout: "",
      stderr: 'uam: There is no user with the name "zoe"\n',
    });
  });
});

describe("changes", () => {
  test("update changes what is given and nothing else", async () => {
    const record = await cli.json(["user", "update", "bob", "--supervisor", "Eve"]);
    expect(record).toMatchObject({ supervisor: "Eve", purpose: "a test" });
    expect(await cli.json(["user", "update", "bob", "--purpose", ""])).toMatchObject({
      supervisor: "Eve",
      purpose: "",
    });
  });

  test("update takes networks, and lifts them", async () => {
    const networks = ["--network", "192.0.2.0/24", "--network=2001:db8::1"];
    expect((await cli.json(["user", "update", "bob", ...networks])).source_networks).toEqual([
      "192.0.2.0/24",
      "2001:db8::1/128",
    ]);
    const refused = await cli.run(["user", "update", "bob", "--network", "192.0.2.7/24"]);
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining("uam: 192.0.2.7/24 is an address within a network; the network itself is 192.0.2.0/24"),
    ]);
    expect((await cli.json(["user", "update", "bob", "--supervisor", "Eve"])).source_networks).toHaveLength(2);
    expect((await cli.json(["user", "update", "bob", "--network", "any"])).source_networks).toEqual([]);
  });

  test("update without a change is a usage error", async () => {
    const { code, stderr } = await cli.run(["user", "update", "bob"]);
    expect(code).toBe(2);
    expect(stderr).toBe(
      "uam: Give one of --email, --full-name, --supervisor, --purpose, --note, --network, --from, --hours, --hours-end, --on-request, --company, --manager, --sponsor or --profile.\n",
    );
  });

  test("--reason is recorded", async () => {
    await cli.json(["user", "disable", "bob", "--reason", "On leave"]);
    await cli.json(["user", "enable", "bob", "--reason", "Back from leave"]);
    await cli.json(["user", "extend", "bob", "--days", "1", "--reason", "One day more"]);
    const reasons = (await auditOf("2")).slice(0, 3).map(({ detail }: { detail: string }) => JSON.parse(detail).reason);
    expect(reasons).toEqual(["One day more", "Back from leave", "On leave"]);
  });

  test("disable and enable change the state", async () => {
    expect((await cli.json(["user", "disable", "bob"])).status).toBe("disabled");
    expect((await cli.json(["user", "enable", "bob"])).status).toBe("active");
    expect((await auditOf("2")).map((row: { action: string }) => row.action).slice(0, 2)).toEqual([
      "user.enable",
      "user.disable",
    ]);
  });

  test("extend moves the expiry by so many days", async () => {
    const before = await cli.json(["user", "show", "bob"]);
    const after = await cli.json(["user", "extend", "bob", "--days", "7"]);
    expect(Date.parse(after.expire_at) - Date.parse(before.expire_at)).toBe(7 * 86_400_000);
  });
});

describe("uam user extend", () => {
  const end = async () => (await cli.json(["user", "show", "bob"])).expire_at as string;
  const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
  const extend = (words: readonly string[], ask?: (question: string) => Promise<string>) =>
    cli.run(["user", "extend", "bob", ...words], ask === undefined ? {} : { ask });

  test("gives nothing unasked: without an end it asks, and without a terminal it is a usage error", async () => {
    const before = await end();
    const stderr = "uam: Say by how much, or until when: --days DAYS, or --until TIME.\n";
    expect(await extend([])).toEqual({ code: 2, stdout: "", stderr });
    expect(await extend(["--preview"])).toEqual({ code: 2, stdout: "", stderr });
    expect(await extend(["--days", "3", "--until", "2030-01-01"])).toMatchObject({
      code: 2,
      stderr: "uam: Give --days or --until, not both.\n",
    });
    expect(await extend([], async () => "")).toEqual({
      code: 1,
      stdout: "",
      stderr: `The access of bob ends at ${before}.\nNothing was changed.\n`,
    });
    expect((await extend([], async () => "tomorrow")).stderr).toContain('"tomorrow" is not an end such as 2026-12-31');
    expect(await end()).toBe(before);
    expect((await extend([], async () => "3")).code).toBe(0);
    expect(Date.parse(await end()) - Date.parse(before)).toBe(3 * 86_400_000);
  });

  test("--until moves the end to a moment; a date means its end", async () => {
    const day = inDays(300).slice(0, 10);
    expect((await extend(["--until", day])).code).toBe(0);
    expect(await end()).toBe(new Date(Date.parse(`${day}T00:00:00Z`) + 86_400_000).toISOString());
  });

  test("an earlier end says what will happen, and needs a yes", async () => {
    const before = await end();
    const until = inDays(20);
    expect(await extend(["--until", until])).toMatchObject({
      code: 2,
      stderr: "uam: Bringing an end forward needs --yes if there is no terminal to ask at.\n",
    });
    const questions: string[] = [];
    const no = await extend(["--until", until], async (question) => {
      questions.push(question);
      return "n";
    });
    expect([no.code, questions]).toEqual([1, ["Bring the end forward? [y/N] "]]);
    expect(no.stderr).toMatch(/^bob keeps access until .* only, instead of .*\n(.*\n)*Nothing was changed\.\n$/);
    expect((await extend(["--until", until, "--preview"])).stdout).toContain("bob keeps access until ");
    expect(await end()).toBe(before);
    expect((await extend(["--until", until], async () => "y")).code).toBe(0);
    expect(await end()).toBe(until);
    const sooner = inDays(10);
    expect((await cli.json(["user", "extend", "bob", "--until", sooner, "--yes"])).expire_at).toBe(sooner);
    expect((await auditOf("2")).slice(0, 2).map((row: { action: string }) => row.action)).toEqual([
      "user.shorten",
      "user.shorten",
    ]);
  });
});

describe("uam user delete", () => {
  test("delete refuses if there is no terminal to ask at", async () => {
    expect(await cli.run(["user", "delete", "carol"])).toEqual({
      code: 2,
      stdout: "",
      stderr: "uam: Deleting needs --yes if there is no terminal to ask at.\n",
    });
    expect((await cli.json(["user", "show", "carol"])).username).toBe("carol");
  });

  test("delete asks, and takes no for an answer", async () => {
    const questions: string[] = [];
    const ask = (answer: string) => async (question: string) => {
      questions.push(question);
      return answer;
    };
    for (const answer of ["", "n", "x y"]) {
      const { code, stderr } = await cli.run(["user", "delete", "carol"], { ask: ask(answer) });
      expect(code).toBe(1);
      expect(stderr).toEndWith("Nothing was deleted.\n");
    }
    expect(questions[0]).toBe("Delete carol (id 3), the host account ext_carol and its home directory? [y/N] ");
    expect((await cli.run(["user", "delete", "carol"], { ask: ask("y") })).code).toBe(0);
    expect((await cli.run(["user", "show", "carol"])).code).toBe(1);
  });

  test("rebuild asks as well, and refuses an account that exists", async () => {
    const questions: string[] = [];
    const ask = async (question: string) => {
      questions.push(question);
      return "no";
    };
    const refused = await cli.run(["user", "rebuild", "bob"], { ask });
    expect([refused.code, refused.stderr]).toEqual([1, "Nothing was changed.\n"]);
    expect(questions).toEqual([
      "Recreate the host account ext_bob, and delete what is left of its home directory? [y/N] ",
    ]);
    expect(await cli.run(["user", "rebuild", "bob"])).toEqual({
      code: 2,
      stdout: "",
      stderr: "uam: Rebuilding needs --yes if there is no terminal to ask at.\n",
    });
    expect((await cli.run(["user", "rebuild", "bob", "--yes"])).stderr).toEndWith(
      "uam: The host account ext_bob exists; uam reconcile repairs what is wrong with it\n",
    );
  });

  test("delete --yes does not ask", async () => {
    const { code, stderr } = await cli.run(["user", "delete", "dora", "--yes"]);
    expect(code).toBe(0);
    expect(stderr).toContain("Deleted dora (id ");
  });
});

describe("sessions", () => {
  test("sessions lists none in dry-run mode, and end-session finds none", async () => {
    expect(await cli.json(["user", "sessions", "alice"])).toEqual({ items: [] });
    expect((await cli.run(["user", "sessions", "ext_alice"])).stdout).toMatch(/^ID +SINCE +FROM +KEY +FINGERPRINT\n$/);
    const { code, stdout, stderr } = await cli.run(["user", "end-session", "alice", "10000001"]);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toEndWith("uam: There is no such session, or it has already ended\n");
  });

  test("sign-out says how many sessions there were", async () => {
    const { code, stderr } = await cli.run(["user", "sign-out", "alice"]);
    expect([code, stderr]).toEqual([0, "0 sessions of alice were ended.\n"]);
    expect(await cli.json(["user", "sign-out", "alice"])).toEqual({ status: "ended", sessions: 0 });
    expect((await cli.run(["user", "sign-out", "zoe"])).code).toBe(1);
  });

  test("sessions and end-session of an unknown user fail", async () => {
    for (const args of [
      ["sessions", "zoe"],
      ["end-session", "zoe", "10000001"],
    ]) {
      const { code, stderr } = await cli.run(["user", ...args]);
      expect([code, stderr]).toEqual([1, 'uam: There is no user with the name "zoe"\n']);
    }
  });
});

describe("uam user why", () => {
  test("exits with 1 and names each cause with its remedy, for people and as JSON", async () => {
    await cli.run(["user", "create", "whynot", "--email", "whynot@example.org"]);
    const { code, stdout } = await cli.run(["user", "why", "whynot"]);
    expect(code).toBe(1);
    expect(stdout).toBe(`No: whynot cannot log in now, because:
- whynot has no active key.
  What to do: they add one themselves in the browser, under Keys; nobody else can.
- The service runs in dry-run mode: on its host nothing was made, and nobody can log in.
  What to do: set UAM_HOST_MODE to direct or sudo: docs/install.md says how.

sshd's log was not read: A dry run reads no log.
`);
    const answer = await cli.run(["user", "why", "whynot", "--json"]);
    expect(answer.code).toBe(1);
    expect(JSON.parse(answer.stdout)).toMatchObject({ can: false, refused: [], log: { read: false } });
  });
});

describe("what follows", () => {
  test("create says what is next, and claims no mail that was not sent", async () => {
    const none = await cli.run(["user", "create", "nils", "--email", "nils@example.org"]);
    expect(none.stdout).toMatch(/^welcome {12}not sent: no mail is set up$/m);
    expect(none.stderr).toContain(
      "nils has no key yet: they log in at http://127.0.0.1:8080/ with a one-time code, and add one.\nNo mail is set up.",
    );
    expect(none.stderr).toEndWith(" otp nils\n");
    const mail = { UAM_SMTP_URL: "smtp://192.0.2.1", UAM_MAIL_FROM: "uam@example.org", UAM_CONSOLE: "off" };
    const some = await cli.run(["user", "create", "mia", "--email", "mia@example.org"], {
      variables: { ...cli.variables, ...mail },
    });
    expect(some.stdout).toMatch(/^welcome {12}sent$/m);
    expect(some.stderr).toEndWith("mia has no key yet: they log in over the API with a one-time code, and add one.\n");
    for (const name of ["nils", "mia"]) {
      const { stderr } = await cli.run(["user", "disable", name]);
      expect(stderr).toContain(`${name} is disabled; this host is not changed (UAM_HOST_MODE is dry-run).\n\n`);
      await cli.run(["user", "delete", name, "--yes"]);
    }
  });

  test("admin add says that it is done, and nothing of a log", async () => {
    const { stdout, stderr } = await cli.run(["admin", "add", "root-admin", "--email", "you@example.org"]);
    expect(stderr).toBe("The administrator root-admin was added.\nThe password, shown only this once:\n");
    expect(stdout).toMatch(/^\S+(?: \S+)*\n$/);
  });
});
