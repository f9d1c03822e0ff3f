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
