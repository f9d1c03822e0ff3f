import { describe, expect, test } from "bun:test";
import { commands } from "../../../src/cli/commands.ts";
import { COMMAND_MEANINGS, OPTION_MEANINGS, SYNONYMS, WORD_MEANINGS } from "../../../src/cli/terminal/meanings.ts";
import { explainUnknown } from "../../../src/cli/terminal/suggestion.ts";

const explain = (line: string) => explainUnknown("uam", commands.usage, line.split(" "));

describe("explainUnknown()", () => {
  test.each([
    ["disable jensen", "uam user disable jensen"],
    ["extend jensen --days 14", "uam user extend jensen --days 14"],
    ["users", "uam user list"],
    ["users --status active", "uam user list --status active"],
    ["ls", "uam user list"],
    ["list", "uam user list"],
    ["show jensen", "uam user show jensen"],
    ["why jensen", "uam user why jensen"],
    ["rm jensen", "uam user delete jensen"],
    ["remove jensen", "uam user delete jensen"],
    ["add jensen", "uam user create jensen"],
    ["useradd jensen", "uam user create jensen"],
    ["unlock jensen", "uam user enable jensen"],
    ["user unlock", "uam user enable"],
    ["user lock jensen", "uam lock jensen"],
    ["user keys jensen", "uam key list jensen"],
    ["user history jensen", "uam audit list --user jensen"],
    ["revoke jensen 3", "uam key revoke jensen 3"],
    ["approve 3", "uam approval approve 3"],
    ["keys jensen", "uam key list jensen"],
    ["hosts", "uam host list"],
    ["admins", "uam admin list"],
    ["logs", "uam audit list"],
    ["verify", "uam audit verify"],
    ["passwd root-admin", "uam admin passwd root-admin"],
    ["status", "uam doctor"],
    ["start", "uam serve"],
  ])("uam %s: %s", (line, meant) => {
    expect(explain(line)).toBe(`There is no command "uam ${known(line)}". Did you mean "${meant}"?`);
  });

  test("words behind it are as a shell takes them, and cannot drive a terminal", () => {
    expect(explainUnknown("uam", commands.usage, ["disable", "a b", "it's", "\u009bx"])).toBe(
      `There is no command "uam disable". Did you mean "uam user disable 'a b' 'it'\\''s' '?x'"?`,
    );
  });

  test.each([
    ["user list --limit 3", "--limit", "--page-size"],
    ["audit list -n 3", "-n", "--page-size"],
    ["user delete jensen -y", "-y", "--yes"],
    ["user delete jensen --force", "--force", "--yes"],
    ["user disable jensen --dry-run", "--dry-run", "--preview"],
    ["install --preview", "--preview", "--dry-run"],
    ["user create jensen --days 14", "--days", "--ttl-days"],
    ["user extend jensen --ttl-days 14", "--ttl-days", "--days"],
    ["user create jensen --mail a@example.org", "--mail", "--email"],
    ["user list --manager Bo", "--manager", "--supervisor"],
    ["user list -o", "-o", "--json"],
    ["audit list --from 7d", "--from", "--since"],
  ])("uam %s: %s is %s", (line, typed, meant) => {
    expect(explain(line)).toEndWith(` has no option "${typed}". Did you mean ${meant}?`);
  });

  test("-v and -V are --version; another letter means nothing", () => {
    expect(explain("-v")).toBe('uam has no option "-v". Did you mean --version?');
    expect(explain("-V")).toBe('uam has no option "-V". Did you mean --version?');
    expect(explain("-x")).toBe('uam has no option "-x".');
    expect(explain("user list -v")).toBe('uam user list has no option "-v".');
  });

  test.each([
    ["user list active", 'uam user list does not take "active". Did you mean --status active?'],
    ["user list jensen", 'uam user list does not take "jensen". Did you mean --search jensen?'],
    ["user create jensen 14", 'uam user create does not take "14". Did you mean --ttl-days 14?'],
    [
      "user create jensen j@example.org",
      'uam user create does not take "j@example.org". Did you mean --email j@example.org?',
    ],
    ["audit list jensen", 'uam audit list does not take "jensen". Did you mean --user jensen?'],
    ["audit list 2026-11-24", 'uam audit list does not take "2026-11-24". Did you mean --since 2026-11-24?'],
    ["key revoke jensen 3 4", 'uam key revoke does not take "4".'],
    ["key list -- jensen --json", 'uam key list does not take "--json".'],
  ])("uam %s", (line, sentence) => {
    expect(explain(line)).toBe(sentence);
  });

  test("says nothing where all words exist", () => {
    for (const line of ["user list --status gone", "key revoke jensen x", "lock", "user list --search -v", "help"])
      expect([line, explain(line)]).toEqual([line, undefined]);
  });
});

/** The words up to the first that is no command. */
function known(line: string): string {
  const words = line.split(" ");
  return words.slice(0, words[0] === "user" ? 2 : 1).join(" ");
}

describe("what newcomers type", () => {
  const lines = new Map(Object.entries(COMMAND_MEANINGS));

  test("means commands and options that exist, and is none itself", () => {
    for (const [typed, meant] of lines) {
      expect([meant, explain(meant)]).toEqual([meant, undefined]);
      expect([typed, explain(typed)]).toEqual([typed, expect.stringContaining(`Did you mean "uam ${meant}"?`)]);
    }
  });

  test("means names that some command has", () => {
    const options = new Set(namesIn(commands.usage, "option"));
    const names = new Set(namesIn(commands.usage, "command"));
    const wanted = [...Object.values(OPTION_MEANINGS).flat(), ...WORD_MEANINGS.flatMap((one) => one.options)];
    expect(wanted.filter((name) => name !== "--version" && !options.has(name))).toEqual([]);
    expect(
      Object.values(SYNONYMS)
        .flat()
        .filter((name) => !names.has(name)),
    ).toEqual([]);
  });
});

/** The names of all terms of that kind. */
function namesIn(usage: unknown, kind: "option" | "command"): readonly string[] {
  if (typeof usage !== "object" || usage === null) return [];
  const { type, name, names } = usage as { readonly type?: string; readonly name?: string; readonly names?: string[] };
  const own = type === kind ? (names ?? [name ?? ""]) : [];
  return [...own, ...Object.values(usage).flatMap((inner) => namesIn(inner, kind))];
}
