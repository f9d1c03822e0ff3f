/**
 * `bun run site`: the documents as static pages, one directory for each version. They need no server, no script to read, and nothing from
 * elsewhere. A script searches them in the browser.
 */

import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { VERSION } from "../../shared/version.ts";
import { readRelease, runWithArguments } from "../arguments.ts";
import { PROJECT } from "../packages.ts";
import { type Document, documentOf, renderListing, renderSearch, renderVersions } from "./pages.ts";

const USAGE = `Usage: bun run site [--output DIRECTORY] [--version X]

Makes pages of the README and the documents, in DIRECTORY/X. Those of other versions stay as they are: DIRECTORY/index.html leads to the
newest, and DIRECTORY/versions.html lists all.

  --output DIRECTORY  where they go; the default is dist/site
  --version X         the version that the documents are of; the default is that of package.json (${VERSION})
  -h, --help          print this`;

const OPTIONS = { output: { type: "string" }, version: { type: "string" } } as const;

/** The documents outside of docs/. */
const AT_THE_TOP = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"];

/** Makes the pages of `version` in `output`, and what leads to them. */
export async function makeSite(output: string, version: string): Promise<void> {
  const place = join(output, version);
  rmSync(place, { recursive: true, force: true });
  const texts = [...AT_THE_TOP, ...pathsBelow("docs").filter((path) => path.endsWith(".md"))];
  const documents = texts.map((path) => documentOf(path, readFileSync(join(PROJECT, path), "utf8"), version));
  for (const { page, html } of documents) write(join(place, page), html);
  for (const path of new Set(documents.flatMap(({ links }) => links))) copy(path, place, version);
  write(join(place, "search.html"), renderSearch(version));
  write(join(place, "sections.js"), `globalThis.SECTIONS = ${JSON.stringify(sectionsOf(documents))};\n`);
  cpSync(join(import.meta.dir, "search.js"), join(place, "search.js"));
  const styles = [join(PROJECT, "src/console/styles/base.css"), join(import.meta.dir, "site.css")];
  write(join(place, "site.css"), styles.map((path) => readFileSync(path, "utf8")).join("\n"));
  const versions = readdirSync(output)
    .filter((name) => statSync(join(output, name)).isDirectory())
    .sort(Bun.semver.order)
    .reverse();
  const [newest = version] = versions;
  write(join(output, "versions.html"), renderVersions(versions));
  write(
    join(output, "index.html"),
    `<!doctype html><meta http-equiv="refresh" content="0; url=${newest}/index.html">\n`,
  );
}

/** The sections for the search, as arrays: there are some thousands of them. */
function sectionsOf(documents: readonly Document[]): readonly (readonly [string, string, string, string])[] {
  return documents.flatMap(({ page, title, sections }) =>
    sections.map(({ id, heading, text }) => [id === "" ? page : `${page}#${id}`, title, heading, text] as const),
  );
}

/** A file that documents link to, at its own path; of a directory each file, and a page that lists them. */
function copy(path: string, place: string, version: string): void {
  const source = join(PROJECT, path);
  mkdirSync(dirname(join(place, path)), { recursive: true });
  cpSync(source, join(place, path), { recursive: true });
  if (!statSync(source).isDirectory()) return;
  write(join(place, path, "index.html"), renderListing(path, readdirSync(source).sort(), version));
}

function pathsBelow(directory: string): readonly string[] {
  return readdirSync(join(PROJECT, directory), { recursive: true, encoding: "utf8" })
    .map((name) => `${directory}/${name}`)
    .sort();
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

if (import.meta.main) {
  await runWithArguments({ usage: USAGE, options: OPTIONS }, async ({ output, version }) => {
    const directory = resolve(output ?? join(PROJECT, "dist/site"));
    const release = readRelease(version === undefined ? {} : { version }).version;
    await makeSite(directory, release);
    console.log(`The pages of ${release} are in ${join(directory, release)}.`);
  });
}
