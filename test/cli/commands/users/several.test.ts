/** uam user extend, disable and delete for several users. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { readConfig } from "../../../../src/config/config.ts";
import { bunRuntime } from "../../../../src/runtime/bun.ts";
import { openServices } from "../../../../src/server/compose.ts";
import { silentLog } from "../../../../src/shared/log.ts";
import { systemClock } from "../../../../src/shared/time/clock.ts";
import { openDatabase } from "../../../../src/store/client.ts";
import { users } from "../../../../src/store/schema.ts";
import { createTestCli, type TestCli } from "../../../support/cli.ts";
import { createTestClock } from "../../../support/clock.ts";
import { grantDefault, insertHost } from "../../../support/host-rows.ts";
import { testSlow } from "../../../support/thorough.ts";

let cli: TestCli;
let count = 0;
/** The users of this test, and their supervisor. */
let names: readonly string[];
let boss: string;

beforeAll(async () => {
  cli = await createTestCli();
});
afterAll(() => cli.close());
beforeEach(async () => {
  count++;
  boss = `Boss ${count}`;
  names = ["ann", "bob", "cem"].map((name) => `${name}-${count}`);
  for (const name of names) await create(name);
});

async function create(name: string): Promise<void> {
  const made = await cli.run(["user", "create", name, "--email", "a@example.org", "--supervisor", boss]);
  expect([name, made.code]).toEqual([name, 0]);
}

const statusOf = async (name: string) => (await cli.json(["user", "show", name])).status;
const statuses = () => Promise.all(names.map(statusOf));
const linesOf = (text: string) => text.trimEnd().split("\n").sort();
const records = async (action: string) =>
  (await cli.json(["audit", "list", "--action", action, "--page-size", "500"])).items.filter(
    ({ detail }: { detail: string }) => JSON.parse(detail).username?.endsWith(`-${count}`),
  );
/** What is printed for people, without the lines of the log, which shows what a dry run would do. */
const said = (stderr: string) => stderr.replace(/^\{.*\n/gm, "");
/** As the expiry does, but without a day's wait. */
async function expire(name: string): Promise<void> {
  const config = readConfig(cli.variables, { isRoot: false, currentDirectory: "/" });
  const { services, close } = await openServices(config, silentLog, { lifetime: "command", machine: bunRuntime });
  await services.db.update(users).set({ expireAt: new Date() }).where(eq(users.username, name));
  await close();
}

describe("several NAMEs", () => {
  test("are asked about once, and each is disabled by an operation of their own", async () => {
    const questions: string[] = [];
    const ask = async (question: string) => {
      questions.push(question);
      return "y";
    };
    // The same user by three references counts once.
    const [ann = "", bob = ""] = names;
    const { id } = await cli.json(["user", "show", ann]);
    const given = [ann, `ext_${ann}`, String(id), bob];
    const { code, stdout, stderr } = await cli.run(["user", "disable", ...given, "--reason", "Over"], { ask });
    expect([code, questions]).toEqual([0, ["Disable them? [y/N] "]]);
    expect(linesOf(stdout)).toEqual([`${ann}: disabled`, `${bob}: disabled`]);
    expect(said(stderr)).toBe(`2 users are to be disabled:\n  ${ann}, ${bob}\nDisabled 2 users.\n`);
    expect(await statuses()).toEqual(["disabled", "disabled", "active"]);
    expect((await records("user.disable")).map(({ detail }: { detail: string }) => JSON.parse(detail).reason)).toEqual([
      "Over",
      "Over",
    ]);
  });

  test("are not changed after a no, nor if somebody is named who does not exist", async () => {
    for (const answer of ["", "n", "3"]) {
      const { code, stdout, stderr } = await cli.run(["user", "disable", ...names], { ask: async () => answer });
      expect([code, stdout]).toEqual([1, ""]);
      expect(stderr).toEndWith("Nothing was changed.\n");
    }
    const { code, stdout, stderr } = await cli.run(["user", "disable", ...names, "zoe", "123456", "--yes"]);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toBe('uam: There is no user with the name "zoe". There is no user with the name or id "123456"\n');
    expect(await statuses()).toEqual(["active", "active", "active"]);
    expect(await records("user.disable")).toEqual([]);
  });

  test("need --yes where nobody can be asked", async () => {
    for (const [command, doing] of [
      [["disable"], "Disabling"],
      [["extend", "--days", "3"], "Extending"],
      [["delete"], "Deleting"],
    ] as const) {
      for (const whom of [names, ["--supervisor", boss]]) {
        expect(await cli.run(["user", ...command, ...whom])).toEqual({
          code: 2,
          stdout: "",
          stderr: `uam: ${doing} several users needs --yes if there is no terminal to ask at.\n`,
        });
      }
    }
    expect(await statuses()).toEqual(["active", "active", "active"]);
  });

  test("are extended by the same number of days; a last number is not taken for a user", async () => {
    const before = await Promise.all(names.map((name) => cli.json(["user", "show", name])));
    const { code, stdout } = await cli.run(["user", "extend", ...names, "--days", "14", "--yes"]);
    const after = await Promise.all(names.map((name) => cli.json(["user", "show", name])));
    expect(code).toBe(0);
    expect(after.map((user, n) => Date.parse(user.expire_at) - Date.parse(before[n].expire_at))).toEqual(
      names.map(() => 14 * 86_400_000),
    );
    expect(linesOf(stdout)).toEqual(after.map((user) => `${user.username}: extended until ${user.expire_at}`));
    const [ann = ""] = names;
    expect(await cli.run(["user", "extend", ann, "14"])).toEqual({
      code: 2,
      stdout: "",
      stderr: `uam: Say by how much, or until when: --days DAYS, or --until TIME. Did you mean "uam user extend ${ann} --days 14"?\n`,
    });
    expect((await cli.run(["user", "extend", ...names, "--yes"])).stderr).toBe(
      "uam: Say by how much, or until when: --days DAYS, or --until TIME.\n",
    );
  });

  test("are deleted once their number was typed, and nothing else counts", async () => {
    const questions: string[] = [];
    const answering = (answer: string) => ({
      ask: async (question: string) => {
        questions.push(question);
        return answer;
      },
    });
    for (const answer of ["y", "yes", "2", "33", ""])
      expect((await cli.run(["user", "delete", ...names], answering(answer))).code).toBe(1);
    expect(await statuses()).toEqual(["active", "active", "active"]);
    const { code, stdout, stderr } = await cli.run(["user", "delete", ...names], answering(" 3 "));
    expect(code).toBe(0);
    expect(questions[0]).toBe("This cannot be undone. Type 3 to delete them: ");
    expect(said(stderr)).toBe(
      `3 users are to be deleted, with their host accounts and home directories:\n  ${names.join(", ")}\nDeleted 3 users.\n`,
    );
    expect(linesOf(stdout)).toEqual(names.map((name) => `${name}: deleted`));
    expect((await cli.json(["user", "list", "--supervisor", boss])).total).toBe(0);
  });

  test("who cannot be changed are named with the reason at the end, and the others are changed", async () => {
    const [ann = "", bob = "", cem = ""] = names;
    await expire(bob);
    const { code, stdout, stderr } = await cli.run(["user", "disable", ...names, "--yes"]);
    expect(code).toBe(1);
    expect(linesOf(stdout)).toEqual([`${ann}: disabled`, `${cem}: disabled`]);
    expect(said(stderr)).toMatch(new RegExp(`^Disabled 2 of 3 users\\.\nFailed for ${bob}: .*expired.*\n$`));
    expect((await records("user.disable")).map(({ result }: { result: string }) => result).sort()).toEqual([
      ...["failed", "success", "success"],
    ]);
  });
});

describe("who changes between the question and the change", () => {
  test.each([
    ["disable", ["--days", "3"], "active"],
    ["delete", ["--days", "3"], "active"],
  ] as const)("uam user %s leaves them as they are, and says so", async (command, extension, status) => {
    const [ann = "", bob = "", cem = ""] = names;
    const ask = async () => {
      await cli.json(["user", "extend", bob, ...extension]);
      return command === "delete" ? "3" : "y";
    };
    const { code, stdout, stderr } = await cli.run(["user", command, "--supervisor", boss], { ask });
    expect(code).toBe(1);
    expect(linesOf(stdout)).toEqual([`${ann}: ${command}d`, `${cem}: ${command}d`]);
    expect(said(stderr)).toEndWith(
      `${command === "delete" ? "Deleted" : "Disabled"} 2 of 3 users.\nFailed for ${bob}: ${bob} has been changed since; look at them again\n`,
    );
    expect(await statusOf(bob)).toBe(status);
    const [record] = (await records(`user.${command}`)).filter(({ result }: { result: string }) => result === "failed");
    expect(JSON.parse(record.detail)).toMatchObject({ username: bob, err: expect.stringContaining("changed since") });
  });

  test("uam user extend does not bring somebody back who was disabled meanwhile", async () => {
    const [, bob = ""] = names;
    const before = await cli.json(["user", "show", bob]);
    const ask = async () => {
      await cli.json(["user", "disable", bob]);
      return "y";
    };
    const { code, stderr } = await cli.run(["user", "extend", "--supervisor", boss, "--days", "3"], { ask });
    expect([code, stderr]).toEqual([1, expect.stringContaining(`Failed for ${bob}: ${bob} has been changed since`)]);
    expect(await cli.json(["user", "show", bob])).toMatchObject({ status: "disabled", expire_at: before.expire_at });
  });

  test("somebody deleted meanwhile is reported, too", async () => {
    const [ann = "", bob = ""] = names;
    const ask = async () => {
      await cli.run(["user", "delete", bob, "--yes"]);
      return "y";
    };
    const { code, stderr } = await cli.run(["user", "disable", ann, bob], { ask });
    expect([code, stderr]).toEqual([1, expect.stringMatching(`Failed for ${bob}: There is no user`)]);
    expect(await statusOf(ann)).toBe("disabled");
  });
});

describe("a filter", () => {
  testSlow("chooses by supervisor, status and text, and up to 20 are named before the question", async () => {
    const more = Array.from({ length: 21 }, (_, n) => `dan${String(n).padStart(2, "0")}-${count}`);
    for (const name of more) await create(name);
    const questions: string[] = [];
    const ask = async (question: string) => {
      questions.push(question);
      return "no";
    };
    const asked = async (...args: readonly string[]) =>
      said((await cli.run(["user", "delete", ...args], { ask })).stderr);
    const all = await asked("--supervisor", boss);
    expect(all).toStartWith("24 users are to be deleted, with their host accounts and home directories:\n  ann-");
    expect(all).toContain("and 4 more\n");
    for (const name of [...names, ...more.slice(0, 17)]) expect(all).toContain(name);
    expect(all).not.toContain(more[17] ?? "");
    expect(Math.max(...all.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(questions).toEqual(["This cannot be undone. Type 24 to delete them: "]);
    await cli.run(["user", "disable", more[0] ?? ""]);
    expect(await asked("--supervisor", boss, "--status", "Disabled")).toContain(`1 user is to be deleted, with their`);
    expect(questions.at(-1)).toBe("Delete this user? [y/N] ");
    expect(await asked("--supervisor", boss, "--search", "DAN1")).toStartWith("10 users are to be deleted");
  });

  test("leaves out who has no access anyway, unless the status is given", async () => {
    const [ann = "", bob = "", cem = ""] = names;
    await cli.run(["user", "disable", ann]);
    await expire(bob);
    const { code, stdout, stderr } = await cli.run(["user", "disable", "--supervisor", boss, "--yes"]);
    expect([code, stdout]).toEqual([0, `${cem}: disabled\n`]);
    expect(said(stderr)).toBe(
      `2 users left out, without access already:\n  ${ann} (disabled), ${bob} (expired)\nDisabled 1 user.\n`,
    );
    const rest = await cli.run(["user", "disable", "--supervisor", boss, "--yes"]);
    expect([rest.code, rest.stdout]).toEqual([1, ""]);
    expect(rest.stderr).toEndWith(`uam: No user with access matches --supervisor '${boss}'.\n`);
    const again = await cli.run(["user", "disable", "--supervisor", boss, "--status", "disabled", "--yes"]);
    expect([again.code, linesOf(again.stdout)]).toEqual([0, [`${ann}: disabled`, `${cem}: disabled`]]);
  });

  test("that matches nobody says so, changes nothing and exits with 1", async () => {
    for (const command of [["disable"], ["delete"], ["extend", "--days", "3"]]) {
      const { code, stdout, stderr } = await cli.run(["user", ...command, "--supervisor", "No\u009bbody", "--yes"]);
      expect([code, stdout]).toEqual([1, ""]);
      expect(stderr).toMatch(/^uam: No user (?:with access )?matches --supervisor 'No\\x9bbody'\.\n$/);
    }
  });

  test("and NAMEs, an empty filter, or neither is a usage error", async () => {
    const [ann = ""] = names;
    const wrong = [
      [[ann, "--supervisor", boss], "Give NAMEs or a filter, not both."],
      [["--supervisor", ""], "--supervisor is empty."],
      [["--search", " "], "--search is empty."],
      [[ann, "--search", ""], "--search is empty."],
      [[], "Give one or more NAMEs, or a filter: --supervisor, --status or --search."],
    ] as const;
    for (const [whom, sentence] of wrong) {
      for (const command of [["disable"], ["delete"], ["extend", "--days", "3"], ["disable", "--preview"]]) {
        const { code, stdout, stderr } = await cli.run(["user", ...command, ...whom, "--yes"]);
        expect([code, stdout, stderr]).toEqual([2, "", `uam: ${sentence}\n`]);
      }
    }
    expect(await statuses()).toEqual(["active", "active", "active"]);
  });
});

describe("--preview of several", () => {
  test("says for each user what would happen, changes nothing, and fails if it would be refused", async () => {
    const [ann = "", bob = ""] = names;
    const { code, stdout, stderr } = await cli.run(["user", "disable", ann, bob, "--preview"]);
    expect([code, stderr]).toEqual([0, "Nothing was changed.\n"]);
    expect(stdout).toStartWith(`${ann}:\n  ${ann} can no longer log in.\n`);
    expect(stdout).toContain(`\n${bob}:\n  ${bob} can no longer log in.\n`);
    expect(stdout).toMatch(/^ {4}would run: \/usr\/sbin\/usermod/m);
    await expire(bob);
    const refused = await cli.run(["user", "disable", ann, bob, "--preview"]);
    expect([refused.code, refused.stdout]).toEqual([
      1,
      expect.stringMatching(new RegExp(`^${bob}:\n {2}Not possible: .*expired`, "m")),
    ]);
    expect(await statusOf(ann)).toBe("active");
    expect(await records("user.disable")).toEqual([]);
    const lines = (await cli.run(["user", "extend", "--supervisor", boss, "--days", "3", "--preview", "--json"]))
      .stdout;
    expect(linesOf(lines).map((line) => JSON.parse(line))).toEqual(
      names.map((username) => expect.objectContaining({ username, preview: true, status: "active" })),
    );
  });
});

describe("--json of several", () => {
  test("is one object a user, also of who failed", async () => {
    const [ann = "", bob = "", cem = ""] = names;
    await expire(bob);
    const { code, stdout, stderr } = await cli.run(["user", "disable", ...names, "--yes", "--json"]);
    expect(code).toBe(1);
    const objects = new Map(linesOf(stdout).map((line) => [JSON.parse(line).username, JSON.parse(line)]));
    expect(objects.get(ann)).toMatchObject({ outcome: "done", status: "disabled" });
    expect(objects.get(cem)).toMatchObject({ outcome: "done", status: "disabled" });
    expect(objects.get(bob)).toMatchObject({
      ...{ outcome: "failed", status: "expired", reason: "user.expired", error: expect.stringContaining("expired") },
    });
    expect(said(stderr)).toContain("Disabled 2 of 3 users.\n");
  });
});

describe("further hosts", () => {
  testSlow("are waited for together, and named where they have not confirmed", async () => {
    const fleet = await createTestCli({ UAM_BASE_URL: "https://uam.example.org", UAM_FLEET_WAIT: "1s" });
    const { db, close } = openDatabase({ url: fleet.variables.UAM_DATABASE_URL ?? "" }, 1);
    const parts = { db, clock: systemTime() };
    for (const name of ["ann", "bob", "cem", "dan"]) {
      const { id } = await fleet.json(["user", "create", name, "--email", "a@example.org"]);
      await grantDefault(parts, id);
    }
    await insertHost(parts, "web1", { groups: ["default"] });
    const confirmed = await fleet.run(["user", "disable", "ann", "bob", "--yes"]);
    expect([confirmed.code, said(confirmed.stderr)]).toEqual([
      ...[0, "Disabled 2 users.\nThe further hosts confirmed all of it.\n"],
    ]);
    await insertHost(parts, "web2", { groups: ["default"], appliedId: 0 });
    const waiting = await fleet.run(["user", "delete", "ann", "bob", "--yes"]);
    expect(waiting.code).toBe(0);
    const lines = said(waiting.stderr).trimEnd().split("\n");
    expect(lines[0]).toBe("Deleted 2 users.");
    const sentence = "1 of 2 further hosts confirmed it; not yet: web2. It is true everywhere from ";
    expect(
      lines
        .slice(1)
        .map((line) => line.split(sentence)[0])
        .sort(),
    ).toEqual(["ann: ", "bob: "]);
    const json = await fleet.run(["user", "disable", "cem", "dan", "--yes", "--json"]);
    expect(linesOf(json.stdout).map((line) => JSON.parse(line))).toEqual(
      [1, 2].map(() =>
        expect.objectContaining({
          ...{ outcome: "done", status: "disabled" },
          hosts: { total: 2, confirmed: 1, pending: ["web2"], effective_by: expect.any(String) },
        }),
      ),
    );
    await close();
    await fleet.close();
  });
});

/** The present, as the command line has it. */
function systemTime() {
  const clock = createTestClock();
  clock.advance(systemClock.now().getTime() - clock.now().getTime());
  return clock;
}

describe("stopped in the middle", () => {
  test("before the first change, nobody is changed", async () => {
    const { code, stdout, stderr } = await cli.run(["user", "delete", ...names, "--yes"], {
      untilStopped: () => Promise.resolve(),
    });
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toBe(`Deleted 0 of 3 users.\nNot begun, because the command was stopped:\n  ${names.join(", ")}\n`);
    expect(await statuses()).toEqual(["active", "active", "active"]);
  });

  testSlow("lets those under way finish, begins no other, and says who is which", async () => {
    const more = Array.from({ length: 12 }, (_, n) => `eve${n}-${count}`);
    for (const name of more) await create(name);
    let stop = () => {};
    const stopped = new Promise<void>((resolve) => {
      stop = resolve;
    });
    let stdout = "";
    const { code, stderr } = await cli.run(["user", "disable", "--supervisor", boss, "--yes"], {
      untilStopped: () => stopped,
      out: (text) => {
        stdout += text;
        stop();
      },
    });
    expect(code).toBe(1);
    const done = linesOf(stdout).map((line) => line.replace(": disabled", ""));
    const [sum, rest = ""] = said(stderr).split("Not begun, because the command was stopped:\n");
    expect(sum).toBe(`Disabled ${done.length} of 15 users.\n`);
    const left = rest.trim().split(/,\s+/);
    expect([...done, ...left].sort()).toEqual([...names, ...more].sort());
    for (const name of done) expect([name, await statusOf(name)]).toEqual([name, "disabled"]);
    for (const name of left) expect([name, await statusOf(name)]).toEqual([name, "active"]);
  });
});
