/** deploy/ansible, by Debian's own ansible, against the service: the playbook of docs/ansible.md, and what else the modules do. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createToken } from "../src/domain/auth/tokens/tokens.ts";
import { type Client, createTestApp, type TestApp } from "./support/app.ts";
import { documentText } from "./support/documents.ts";
import { describeSlowIf } from "./support/thorough.ts";

const COLLECTION = join(import.meta.dir, "../deploy/ansible");
const [, WHO = ""] = /^`people\.yml` .*?^```yaml\n(.*?)^```$/ms.exec(documentText("docs/ansible.md")) ?? [];
/** Against the service here; test/long/ansible has the whole document. */
const PLAYBOOK = WHO.replace("hosts: uam_service", "hosts: localhost").replace(
  /^ {2}module_defaults:\n(?: {4}.*\n)+/m,
  "",
);
const PEOPLE = 10;
const isHere = Bun.which("ansible-playbook") !== null || process.env.UAM_TEST_HOST === "1";

let app: TestApp;
let admin: Client;
let server: ReturnType<typeof Bun.serve>;
let directory = "";
const environment: Record<string, string> = {
  PATH: process.env.PATH ?? "",
  LC_ALL: "C.UTF-8",
  PYTHONDONTWRITEBYTECODE: "1",
};

beforeAll(async () => {
  app = await createTestApp();
  admin = await app.admin();
  const about = { name: "ansible", role: "owner", days: 1, networks: [] } as const;
  const { token } = await createToken(app.system, { owner: "admin" }, about);
  server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: (request) => app.app.fetch(request, "127.0.0.1") });
  directory = mkdtempSync(join(tmpdir(), "uam-ansible-"));
  const place = join(directory, "collections/ansible_collections/uam");
  mkdirSync(place, { recursive: true });
  symlinkSync(COLLECTION, join(place, "uam"));
  Object.assign(environment, {
    ...{ HOME: directory, UAM_URL: `http://127.0.0.1:${server.port}`, UAM_TOKEN: token },
    ...{ ANSIBLE_COLLECTIONS_PATH: join(directory, "collections"), ANSIBLE_LOCALHOST_WARNING: "false" },
    ...{ ANSIBLE_INVENTORY_UNPARSED_WARNING: "false", ANSIBLE_NOCOLOR: "true", ANSIBLE_STDOUT_CALLBACK: "results" },
    ANSIBLE_CALLBACK_PLUGINS: join(import.meta.dir, "support/ansible"),
  });
});
afterAll(async () => {
  await server.stop(true);
  await app.close();
  rmSync(directory, { recursive: true, force: true });
});

test("no task of a role leaves a secret in the host's log", () => {
  const tasks = [...new Bun.Glob("roles/*/tasks/*.yml").scanSync(COLLECTION)].flatMap((path) =>
    readFileSync(join(COLLECTION, path), "utf8").split(/^(?=- name:)/m),
  );
  const SECRET = /^(?!.*(?:fail_msg|\bwhen:)).*(?:\{\{.*(?:_password|_secrets|_token\b|_line\.|_read\.).*\}\})/m;
  const secret = tasks.filter((task) => SECRET.test(task));
  expect(secret.length).toBeGreaterThan(4);
  expect(secret.filter((task) => !/^ {2}no_log: true$/m.test(task))).toEqual([]);
});

interface Result {
  readonly changed: boolean;
  readonly msg?: string;
  readonly reason?: string;
  readonly preview?: readonly unknown[];
  readonly diff?: { readonly before: object; readonly after: object };
  readonly token_value?: string;
  readonly line?: string;
  readonly secret?: string;
  readonly warnings?: readonly string[];
}

interface Outcome {
  readonly status: number;
  /** How many tasks changed something. */
  readonly changed: number;
  readonly results: readonly Result[];
}

async function ansible(argv: readonly string[], variables = environment): Promise<{ status: number; said: string }> {
  const child = Bun.spawn([...argv], { env: variables, cwd: directory, stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { status: await child.exited, said: stdout + stderr };
}

async function play(playbook: string, ...options: readonly string[]): Promise<Outcome> {
  const file = join(directory, "playbook.yml");
  writeFileSync(file, playbook);
  const { status, said } = await ansible(["ansible-playbook", ...options, file]);
  const lines = said.match(/^\{.*\}$/gm)?.map((line) => JSON.parse(line)) ?? [];
  const counts = lines.pop();
  if (counts?.changed === undefined) throw new Error(said);
  return { status, changed: counts.changed, results: lines };
}

/** The results of tasks, each a module with its options and maybe what a task has besides. */
async function run(
  ...tasks: readonly (readonly [module: string, options: object, more?: object])[]
): Promise<readonly Result[]> {
  const listed = tasks.map(([module, options, more]) => ({ [`uam.uam.${module}`]: options, ...more }));
  const { results } = await play(JSON.stringify([{ hosts: "localhost", gather_facts: false, tasks: listed }]));
  return results;
}

const CHECK = { check_mode: true };
const FAILS = { ignore_errors: true };

async function listed(path: string): Promise<readonly Record<string, unknown>[]> {
  return (await admin.call("GET", `${path}${path.includes("?") ? "&" : "?"}page_size=100`)).body.data.items;
}

describeSlowIf(isHere)("docs/ansible.md", () => {
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

describeSlowIf(isHere)("modules", () => {
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
    expect(results[2]?.diff).toEqual({
      before: { expire_at: expect.stringMatching(/^2029-01-01T00:00:00/) },
      after: { expire_at: "2029-02-01T00:00:00+01:00" },
    });
    expect(results[3]?.preview).toHaveLength(1);
    expect((await listed("/audit?action=user.delete")).length).toBe(1);
  });

  test("company: a narrower limit is previewed; ended and resumed", async () => {
    const name = "Ek";
    const results = await run(
      ["company", { name, max_users: 5 }],
      ["company", { name, max_users: 0 }],
      ["company", { name, max_users: 2 }, CHECK],
      ["company", { name, state: "ended" }],
      ["company", { name, state: "ended" }],
      ["company", { name }],
    );
    expect(results.map(({ changed }) => changed)).toEqual([true, true, true, true, false, true]);
    expect(results[2]?.preview).toHaveLength(1);
    expect((await listed("/companies?q=Ek"))[0]).toMatchObject({ max_users: null, status: "active" });
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

  test("a refusal is the service's sentence, with its reason, and changes nothing", async () => {
    const wrong = `uam_${"a".repeat(49)}`;
    const results = await run(
      ["user", { name: "vera", email: "not an address" }, FAILS],
      ["user", { name: "vera", token: wrong }, FAILS],
      ["user", { name: "vera", url: "http://127.0.0.1:9" }, FAILS],
      ["grant", { user: "vera", groups: [] }, FAILS],
    );
    expect(results.map(({ changed }) => changed)).toEqual([false, false, false, false]);
    expect(results[0]?.msg).toContain("address");
    expect(results[1]).toMatchObject({ msg: "Invalid token", status: 401, reason: "token.wrong" });
    expect(results[2]?.msg).toContain("refused");
    expect(results[3]?.msg).toBe("There is no user vera");
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

  test("each is documented as ansible-doc reads it", async () => {
    const names = readdirSync(join(COLLECTION, "plugins/modules")).map(
      (file) => `uam.uam.${file.replace(/\.py$/, "")}`,
    );
    const { status, said } = await ansible(["ansible-doc", "--json", ...names]);
    expect([status, Object.keys(JSON.parse(said)).sort()]).toEqual([0, names.sort()]);
    const roles = readdirSync(join(COLLECTION, "roles")).map((name) => `uam.uam.${name}`);
    const described = [...documentText("docs/ansible.md").matchAll(/^\| `(uam\.uam\.\w+)` \|/gm)];
    expect(described.map(([, name]) => name).sort()).toEqual([...names, ...roles].sort());
  });

  test("the inventory has the service's hosts", async () => {
    writeFileSync(join(directory, "test.uam.yml"), "plugin: uam.uam.hosts\n");
    const { status, said } = await ansible(["ansible-inventory", "-i", "test.uam.yml", "--list"]);
    expect([status, said]).toEqual([0, expect.stringContaining("uam_default")]);
    expect(JSON.parse(said).uam_default.hosts).toEqual(["local"]);
  });
});
