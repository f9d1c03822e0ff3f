/** deploy/ansible without its modules: what the roles say and to whom, and what ansible-doc reads. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type AnsibleLab, COLLECTION, isAnsibleHere, openAnsibleLab } from "./support/ansible/lab.ts";
import { documentText } from "./support/documents.ts";
import { describeSlowIf } from "./support/thorough.ts";

let lab: AnsibleLab;
beforeAll(async () => {
  lab = await openAnsibleLab();
});
afterAll(() => lab.close());

test("no task of a role leaves a secret in the host's log", () => {
  const tasks = [...new Bun.Glob("roles/*/tasks/*.yml").scanSync(COLLECTION)].flatMap((path) =>
    readFileSync(join(COLLECTION, path), "utf8").split(/^(?=- name:)/m),
  );
  const SECRET = /^(?!.*(?:fail_msg|\bwhen:)).*(?:\{\{.*(?:_password|_secrets|_token\b|_line\.|_read\.).*\}\})/m;
  const secret = tasks.filter((task) => SECRET.test(task));
  expect(secret.length).toBeGreaterThan(4);
  expect(secret.filter((task) => !/^ {2}no_log: true$/m.test(task))).toEqual([]);
});

describeSlowIf(isAnsibleHere)("ansible-doc", () => {
  test("each is documented as ansible-doc reads it", async () => {
    const names = readdirSync(join(COLLECTION, "plugins/modules")).map(
      (file) => `uam.uam.${file.replace(/\.py$/, "")}`,
    );
    const { status, said } = await lab.ansible(["ansible-doc", "--json", ...names]);
    expect([status, Object.keys(JSON.parse(said)).sort()]).toEqual([0, names.sort()]);
    const roles = readdirSync(join(COLLECTION, "roles")).map((name) => `uam.uam.${name}`);
    const described = [...documentText("docs/ansible.md").matchAll(/^\| `(uam\.uam\.\w+)` \|/gm)];
    expect(described.map(([, name]) => name).sort()).toEqual([...names, ...roles].sort());
  });
});
