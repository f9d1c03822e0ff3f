/** deploy/ansible, by Debian's own ansible, against the service: the playbook of docs/ansible.md, and what else the modules do. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type AnsibleLab, COLLECTION, isAnsibleHere, openAnsibleLab } from "./support/ansible/lab.ts";
import { documentText } from "./support/documents.ts";
import { describeSlowIf, isQuick } from "./support/thorough.ts";

const [, WHO = ""] = /^`people\.yml` .*?^```yaml\n(.*?)^```$/ms.exec(documentText("docs/ansible.md")) ?? [];
/** Against the service here; test/long/ansible has the whole document. */
const PLAYBOOK = WHO.replace("hosts: uam_service", "hosts: localhost").replace(
  /^ {2}module_defaults:\n(?: {4}.*\n)+/m,
  "",
);
const PEOPLE = 10;
const CHECK = { check_mode: true };
const FAILS = { ignore_errors: true };

let lab: AnsibleLab;
let play: AnsibleLab["play"];
let run: AnsibleLab["run"];
let listed: AnsibleLab["listed"];
beforeAll(async () => {
  if (isQuick || !isAnsibleHere) return;
  lab = await openAnsibleLab();
  ({ play, run, listed } = lab);
});
afterAll(() => lab?.close());

describeSlowIf(isAnsibleHere)("docs/ansible.md", () => {
  test("its playbook: a check changes nothing, a run does, and a second one finds nothing to do", async () => {
    const checked = await play(PLAYBOOK, "--check", "--diff");
    expect([checked.status, (await listed("/users")).length, (await listed("/companies")).length]).toEqual([0, 0, 0]);
    const made = await play(PLAYBOOK);
    expect([made.status, made.changed]).toEqual([0, checked.changed]);
    const users = await listed("/users");
    expect(users.map(({ status }) => status)).toEqual(Array(PEOPLE).fill("active"));
    const about = (name: string) => users.find(({ username }) => username === name);
    expect(about("ines")).toMatchObject({ email: "ines@example.org", hours: null, profile: null });
    expect(about("pilar")).toMatchObject({ hours: { zone: "Europe/Berlin" } });
    expect(about("rosa")).toMatchObject({ profile: "drop-box" });
    const again = await play(PLAYBOOK);
    expect([again.status, again.changed]).toEqual([0, 0]);
  });
});

describeSlowIf(isAnsibleHere)("modules", () => {
  test("user: an end is moved once, and the preview says what a deletion does", async () => {
    const user = { name: "tilde", email: "tilde@example.org", expire_at: "2029-01-01T00:00:00Z" };
    const gone = { name: "tilde", state: "absent" };
    const results = await run(
      ["user", user],
      ["user", user],
      ["user", { ...user, expire_at: "2029-02-01T00:00:00+01:00" }, { diff: true }],
      ["user", gone, CHECK],
      ["user", { ...gone, reason: "over" }],
      ["user", gone],
    );
    expect(results.map(({ changed }) => changed)).toEqual([true, false, true, true, true, false]);
    expect(results[2]?.diff).toEqual([
      {
        ...{ before_header: "user tilde", after_header: "user tilde" },
        before: { expire_at: expect.stringMatching(/^2029-01-01T00:00:00/) },
        after: { expire_at: "2029-02-01T00:00:00+01:00" },
      },
    ]);
    expect(results[3]?.preview).toHaveLength(1);
    expect((await listed("/audit?action=user.delete")).length).toBe(1);
  });

  test("user: present lets nobody in again who was disabled, and says so; enabled does", async () => {
    const user = { name: "yara", email: "yara@example.org" };
    await run(["user", user]);
    const [{ id } = {}] = await listed("/users?q=yara");
    await lab.admin.call("POST", `/users/${id}/disable`);
    const warnings = ["yara is disabled and stays so, because only state: enabled lets somebody in again"];
    const results = await run(
      ["user", user],
      ["user", { ...user, purpose: "audit" }],
      ["user", { ...user, state: "enabled" }, { ...CHECK, diff: true }],
      ["user", { ...user, state: "enabled", reason: "back" }],
      ["user", { ...user, state: "enabled" }],
      ["user", { name: "zoe", email: "zoe@example.org", state: "enabled" }],
    );
    expect(results.map(({ changed }) => changed)).toEqual([false, true, true, true, false, true]);
    expect(results.map((result) => result.warnings)).toEqual([warnings, warnings, ...Array(4).fill(undefined)]);
    expect(results[1]).toMatchObject({ user: { status: "disabled", purpose: "audit" } });
    expect(results[2]).toMatchObject({
      preview: [{ status: "active" }],
      diff: [{ before: { state: "disabled" }, after: { state: "enabled" } }, { prepared: expect.any(String) }],
    });
    const records = await listed("/audit?action=user.enable");
    expect(records.map(({ detail }) => detail)).toEqual([expect.stringContaining('"reason":"back"')]);
    expect((await listed("/users?status=active")).map(({ username }) => username)).toContain("zoe");
  });

  test("--diff with --check says each field by its option, and what the preview says to people", async () => {
    await run(
      ["company", { name: "Old AB" }],
      ["company", { name: "New AB" }],
      ["user", { name: "kim", email: "kim@example.org", company: "Old AB" }],
    );
    const tasks = [
      { "uam.uam.user": { name: "kim", company: "New AB" } },
      { "uam.uam.setting": { key: "policy.default_ttl", value: "40d" } },
      { "uam.uam.user": { name: "kim", state: "disabled" } },
    ];
    const playbook = JSON.stringify([{ hosts: "localhost", gather_facts: false, tasks }]);
    const said = await lab.show(playbook, "--check", "--diff");
    expect(said).toContain('-    "company": "Old AB"\n+    "company": "New AB"\n');
    expect(said).not.toContain("company_id");
    expect(said).toContain('     "key": "policy.default_ttl",\n-    "value"');
    expect(said).toMatch(/^--- before: user kim$/m);
    expect(said).toMatch(/"state": "disabled"\n \}\n\n.*kim.*\.\n/);
    expect(said).not.toContain("would run");
  });

  test("company: a narrower limit is previewed; ended, not resumed by being present, and resumed", async () => {
    const name = "Ek";
    const results = await run(
      ["company", { name, max_users: 5 }],
      ["company", { name, max_users: 0 }],
      ["company", { name, max_users: 2 }, CHECK],
      ["company", { name, state: "ended" }],
      ["company", { name, state: "ended" }],
      ["company", { name, max_users: 3 }],
      ["company", { name, state: "active" }],
      ["company", { name, state: "active" }],
    );
    expect(results.map(({ changed }) => changed)).toEqual([true, true, true, true, false, true, true, false]);
    expect(results[2]?.preview).toHaveLength(1);
    expect(results[5]).toMatchObject({
      warnings: ["Ek was ended and stays so, because only state: active resumes a company"],
      company: { max_users: 3, status: "ended" },
    });
    expect((await listed("/companies?q=Ek"))[0]).toMatchObject({ max_users: 3, status: "active" });
  });

  test("profile: made, narrowed after a preview, given to users and groups, taken from them, and removed", async () => {
    const profile = { name: "drop", kind: "sftp", directory: "/srv/drop", umask: "027" };
    const user = { name: "wim", email: "wim@example.org", source_networks: ["192.0.2.0/24"], profile: "drop" };
    const results = await run(
      ["profile", { name: "drop" }, FAILS],
      ["profile", profile],
      ["profile", profile],
      ["profile", { ...profile, kind: "shell" }, FAILS],
      ["profile", { ...profile, read_only: true, umask: "" }, CHECK],
      ["profile", { ...profile, read_only: true, umask: "" }],
      ["user", user],
      ["user", { ...user, profile: "", source_networks: [] }, CHECK],
      ["user", { ...user, profile: "", source_networks: [] }],
      ["user", { ...user, profile: "not there" }, { ...CHECK, ...FAILS }],
      ["host_group", { name: "drops", profile: "drop" }],
      ["host_group", { name: "drops", profile: "" }],
      ["profile", { name: "drop", state: "absent" }],
    );
    const changed = [false, true, false, false, true, true, true, true, true, true, true, true, true];
    expect(results.map((result) => result.changed)).toEqual(changed);
    expect(results[0]?.msg).toBe("There is no profile drop yet: say its kind");
    expect(results[3]?.msg).toBe("The profile drop is of the kind sftp, and stays it");
    expect(results[4]?.preview).toHaveLength(1);
    // Networks are a change of their own.
    expect(results[7]?.preview).toHaveLength(2);
    expect(results[9]?.warnings?.[0]).toContain("not there");
    expect((await listed("/profiles")).filter(({ name }) => name === "drop")).toEqual([]);
    expect((await listed("/users?q=wim"))[0]).toMatchObject({ profile: null, source_networks: [] });
  });

  test("grant and host_group: whole lists, in any order", async () => {
    const results = await run(
      ["host_group", { name: "stores" }],
      ["user", { name: "ulf", email: "ulf@example.org" }],
      ["grant", { user: "ulf", groups: ["default", "stores"] }],
      ["grant", { user: "ulf", groups: ["stores", "default"] }],
      ["host_group", { name: "stores", lease: "1h" }],
      ["host_group", { name: "stores", lease: "" }],
      ["host_group", { name: "stores", lease: "" }],
    );
    expect(results.map(({ changed }) => changed)).toEqual([true, true, true, false, true, true, false]);
  });

  test("setting returns to its default; token, webhook and host_token make one, and say its secret once", async () => {
    const token = { name: "report", role: "auditor" };
    const webhook = { endpoint: "https://hooks.example.org/uam", actions: ["user.disable", "user.delete"] };
    const results = await run(
      ["setting", { key: "policy.default_ttl", value: "40d" }],
      ["setting", { key: "policy.default_ttl", state: "absent" }],
      ["setting", { key: "policy.default_ttl", state: "absent" }],
      ["token", token],
      ["token", token],
      ["token", { ...token, state: "absent" }],
      ["webhook", webhook],
      ["webhook", { ...webhook, actions: ["user.delete", "user.disable"] }],
      ["webhook", { ...webhook, state: "disabled" }],
      ["webhook", { ...webhook, state: "absent" }],
      ["host_token", { name: "web7" }],
    );
    const changed = [true, true, false, true, false, true, true, false, true, true, true];
    expect(results.map((result) => result.changed)).toEqual(changed);
    expect(results[3]?.token_value).toStartWith("uam_");
    expect(results[6]?.secret).toStartWith("whsec_");
    expect(results[10]?.line).toContain("uamj_");
    expect(
      results.filter(({ token_value: value, secret }) => value !== undefined || secret !== undefined),
    ).toHaveLength(2);
  });

  test("token: the example keeps a new one in a file, and a later run leaves it", async () => {
    const [, example = ""] =
      /EXAMPLES = r"""\n(.*?)"""/s.exec(readFileSync(join(COLLECTION, "plugins/modules/token.py"), "utf8")) ?? [];
    const file = join(lab.directory, "nightly-report.token");
    const tasks = example.replace("/root/nightly-report.token", file).replace(/^/gm, "    ");
    const playbook = `- hosts: localhost\n  gather_facts: false\n  tasks:\n${tasks}`;
    expect((await play(playbook)).changed).toBe(2);
    expect([readFileSync(file, "utf8"), statSync(file).mode & 0o777]).toEqual([expect.stringMatching(/^uam_/), 0o600]);
    expect((await play(playbook)).changed).toBe(0);
  });

  test("a refusal is the service's sentence, with its reason, and changes nothing", async () => {
    const wrong = `uam_${"a".repeat(49)}`;
    const untrusted = { name: "vera", url: lab.secure };
    const results = await run(
      ["user", { name: "vera", email: "not an address" }, FAILS],
      ["user", { name: "vera", token: wrong }, FAILS],
      ["user", { name: "vera", url: "http://127.0.0.1:9" }, FAILS],
      ["grant", { user: "vera", groups: [] }, FAILS],
      ["user", untrusted, FAILS],
      ["user", { ...untrusted, state: "absent", ca_path: "cert.pem" }],
      ["user", { name: "vera", token: `${wrong}\n` }, FAILS],
    );
    expect(results.map(({ changed }) => changed)).toEqual(Array(7).fill(false));
    expect(results[0]?.msg).toContain("address");
    expect(results[1]).toMatchObject({ msg: "Invalid token", status: 401, reason: "token.wrong" });
    expect(results[2]?.msg).toContain("refused");
    expect(results[3]?.msg).toBe("There is no user vera");
    expect(results[4]?.msg).toMatch(/CERTIFICATE_VERIFY_FAILED.*, ca_path has to name a file of it$/);
    expect(results[6]?.msg).toStartWith("The token has a character that no token has");
  });

  test("with an empty token, a check is that of a service which is not there yet; a run is refused", async () => {
    const none = { url: "http://127.0.0.1:9", token: "" };
    const results = await run(
      ["user", { ...none, name: "xaver", email: "xaver@example.org" }, CHECK],
      ["grant", { ...none, user: "xaver", groups: ["db"] }, CHECK],
      ["setting", { ...none, key: "policy.review_every", value: "90d" }, CHECK],
      ["user", { ...none, name: "xaver", email: "xaver@example.org" }, FAILS],
    );
    expect(results.map(({ changed }) => changed ?? false)).toEqual([true, true, true, false]);
    expect(results[3]?.msg).toStartWith("token is missing");
  });

  test("the inventory has the service's hosts", async () => {
    writeFileSync(join(lab.directory, "test.uam.yml"), "plugin: uam.uam.hosts\n");
    const { status, said } = await lab.ansible(["ansible-inventory", "-i", "test.uam.yml", "--list"]);
    expect([status, said]).toEqual([0, expect.stringContaining("uam_default")]);
    expect(JSON.parse(said).uam_default.hosts).toEqual(["local"]);
  });
});
