/** deploy/ansible without its modules: what the roles say and to whom, and what ansible-doc reads. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { type AnsibleLab, COLLECTION, isAnsibleHere, openAnsibleLab } from "./support/ansible/lab.ts";
import { documentText } from "./support/documents.ts";
import { describeSlowIf, isQuick } from "./support/thorough.ts";

test("no task of a role leaves a secret in the host's log", () => {
  const tasks = [...new Bun.Glob("roles/*/tasks/*.yml").scanSync(COLLECTION)].flatMap((path) =>
    readFileSync(join(COLLECTION, path), "utf8").split(/^(?=- name:)/m),
  );
  const SECRET = /^(?!.*(?:fail_msg|\bwhen:)).*(?:\{\{.*(?:_password|_secrets|_token\b|_line\.|_read\.).*\}\})/m;
  // These two do nothing on the host.
  const HERE = /ansible\.builtin\.(?:assert|fail):/;
  const secret = tasks.filter((task) => SECRET.test(task) && !HERE.test(task));
  expect(secret.length).toBeGreaterThan(4);
  expect(secret.filter((task) => !/^ {2}no_log: true$/m.test(task))).toEqual([]);
});

/** In place of the role that installs the package. */
const PARTS = ["meta", "plugins", "roles/agent", "roles/service"];
const PASSWORD = "correct horse battery staple";

let lab: AnsibleLab;
beforeAll(async () => {
  if (isQuick || !isAnsibleHere) return;
  lab = await openAnsibleLab(Object.fromEntries(PARTS.map((part) => [part, join(COLLECTION, part)])));
  mkdirSync(join(lab.directory, "collections/ansible_collections/uam/uam/roles/package/tasks"), { recursive: true });
  mkdirSync(join(lab.directory, "bin"));
  const program = join(lab.directory, "bin/uam");
  // Repeats what it is told, which the real one does not.
  writeFileSync(
    program,
    `#!/bin/sh
case $1-$2 in
admin-list) echo '{"items": []}' ;;
*) echo "uam: $1 $2 is refused at \${UAM_SSH_HOST-}: $(cat)" >&2; exit 1 ;;
esac
`,
  );
  chmodSync(program, 0o755);
});
afterAll(() => lab?.close());

interface Trial {
  /** Of the gate in the inventory. */
  readonly gate?: object;
  readonly vars?: object;
  readonly roles?: readonly string[];
  readonly tasks?: readonly object[];
}

/** The sentences of what failed for web1.example.org, and all that was said. */
async function failures({ gate = {}, vars = {}, ...work }: Trial, ...options: readonly string[]) {
  const here = { ansible_connection: "local", ansible_python_interpreter: "/usr/bin/python3" };
  const hosts = { "gate.example.org": { ...here, ...gate }, "web1.example.org": here };
  // JSON is YAML, too.
  writeFileSync(join(lab.directory, "hosts.yml"), JSON.stringify({ all: { hosts } }));
  const playbook = [
    {
      ...{ hosts: "web1.example.org", gather_facts: false, ...work },
      environment: { PATH: `${join(lab.directory, "bin")}:${process.env.PATH}` },
      vars: { uam_url: lab.secure, uam_token: lab.token, uam_api_host: "gate.example.org", ...vars },
    },
  ];
  const { status, results } = await lab.play(JSON.stringify(playbook), "-i", "hosts.yml", ...options);
  const messages = results.filter(({ failed }) => failed === true).map(({ msg }) => msg);
  return { status, messages, said: JSON.stringify(results) };
}

describeSlowIf(isAnsibleHere)("roles", () => {
  test("agent: the API's certificates are those of the host that asks it, and without them a sentence names the option", async () => {
    const roles = ["uam.uam.agent"];
    const gate = { uam_api_ca: join(lab.directory, "cert.pem") };
    expect(await failures({ gate, roles }, "--check")).toMatchObject({ status: 0, messages: [] });
    const { messages, said } = await failures({ roles }, "--check");
    expect(messages).toEqual([expect.stringMatching(/CERTIFICATE_VERIFY_FAILED.* uam_api_ca /)]);
    expect(said).not.toContain(lab.token);
  });

  test("agent: without a token, a sentence says what it needs", async () => {
    const vars = { uam_token: "{{ hostvars[uam_api_host].uam_token }}" };
    const { messages } = await failures({ vars, roles: ["uam.uam.agent"] });
    expect(messages).toEqual([expect.stringMatching(/^To join, web1.example.org needs uam_url and uam_token\./)]);
  });

  test("agent: why a host could not join is said without the line; people are to come to its name in the inventory", async () => {
    const gate = { uam_api_ca: join(lab.directory, "cert.pem") };
    const { messages, said } = await failures({ gate, roles: ["uam.uam.agent"] });
    expect(messages).toEqual([
      expect.stringMatching(/^uam: agent join is refused at web1\.example\.org: http:\S+ uamj_… SHA256:\S+$/),
    ]);
    expect(said).not.toMatch(/uamj_\w/);
  });

  test("service: what the first administrator lacks, and which setting is too long, is said without a secret", async () => {
    const roles = ["uam.uam.service"];
    const missing = await failures({ roles, vars: { uam_admin: "root-admin", uam_admin_password: PASSWORD } });
    expect(missing.messages).toEqual([expect.stringContaining("needs uam_admin_email and uam_admin_password")]);
    const long = await failures({ roles, vars: { uam_secrets: { UAM_RESEND_KEY: `${PASSWORD}\nmore` } } });
    expect(long.messages).toEqual(["A setting is one line, unlike the value of UAM_RESEND_KEY."]);
    expect(missing.said + long.said).not.toContain(PASSWORD);
  });

  test("service: why the first administrator could not be made is said", async () => {
    const tasks = [{ "ansible.builtin.include_tasks": join(COLLECTION, "roles/service/tasks/token.yml") }];
    const admin = { uam_admin: "root-admin", uam_admin_email: "you@example.org", uam_admin_password: "short" };
    const vars = { uam_unit: { stat: { exists: true } }, uam_token_days: 90, ...admin };
    expect((await failures({ tasks, vars })).messages).toEqual([expect.stringMatching(/^uam: admin add is refused/)]);
  });
});

/** Printed raw by ansible-core 2.14. */
const NEW_MARKUP = /\b(?:RV|V|O|E|P)\(/;
/** What ansible-doc reads of an option, an attribute or a result. */
const KNOWN = new Set("description type required default choices elements returned env support".split(" "));

interface Documented {
  readonly options?: object;
  readonly attributes?: object;
}

/** Each thing that is described below `value`, with where it is. */
function described(value: unknown, place: string): readonly { place: string; entry: Record<string, unknown> }[] {
  if (typeof value !== "object" || value === null) return [];
  const entry = value as Record<string, unknown>;
  return [
    ...("description" in entry ? [{ place, entry }] : []),
    ...Object.entries(entry).flatMap(([name, inner]) => described(inner, `${place}.${name}`)),
  ];
}

function namesIn(folder: string): readonly string[] {
  return readdirSync(join(COLLECTION, folder)).map((name) => `uam.uam.${name.replace(/\.py$/, "")}`);
}

describeSlowIf(isAnsibleHere)("ansible-doc", () => {
  test("shows each module, and docs/ansible.md names each", async () => {
    const modules = namesIn("plugins/modules");
    const { status, said } = await lab.ansible(["ansible-doc", ...modules]);
    expect([status, said.match(/^> UAM\.UAM\.\w+/gm)?.length]).toEqual([0, modules.length]);
    const listed = [...documentText("docs/ansible.md").matchAll(/^\| `(uam\.uam\.\w+)` \|/gm)].map(([, name]) => name);
    expect(listed.sort()).toEqual([...modules, ...namesIn("roles")].sort());
  });

  test("finds text in each description, none that a comma or a colon cut, and no markup that 2.14 does not know", async () => {
    const about = await Promise.all([
      lab.ansible(["ansible-doc", "--json", ...namesIn("plugins/modules")]),
      lab.ansible(["ansible-doc", "--json", "-t", "inventory", ...namesIn("plugins/inventory")]),
    ]);
    const entries = about.flatMap(({ said }) => {
      const told = JSON.parse(said) as Record<string, { readonly doc: Documented; readonly return: object | null }>;
      return Object.entries(told).flatMap(([name, { doc, return: returned }]) =>
        [doc.options, doc.attributes, returned].flatMap((each) => described(each, name)),
      );
    });
    expect(entries.length).toBeGreaterThan(80);
    const isText = ({ description }: Record<string, unknown>) =>
      [description].flat().every((each) => typeof each === "string");
    const isWhole = (entry: Record<string, unknown>) => Object.keys(entry).every((name) => KNOWN.has(name));
    expect(entries.filter(({ entry }) => !isText(entry) || !isWhole(entry))).toEqual([]);
    const sources = [...new Bun.Glob("plugins/**/*.py").scanSync(COLLECTION)];
    expect(sources.filter((path) => NEW_MARKUP.test(readFileSync(join(COLLECTION, path), "utf8")))).toEqual([]);
  });
});
