/** The documents as pages: what they link to is there, each page is found, and versions stay beside each other. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, normalize } from "node:path";
import { documentOf } from "../../../src/build/site/pages.ts";
import { makeSite } from "../../../src/build/site/site.ts";
import { documentPaths } from "../../support/documents.ts";

const output = mkdtempSync(join(tmpdir(), "uam-site-"));
const place = join(output, "9.9.9");

beforeAll(() => makeSite(output, "9.9.9"));
afterAll(() => rmSync(output, { recursive: true }));

function pages(): readonly string[] {
  return readdirSync(place, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".html"));
}

function links(page: string): readonly string[] {
  const targets: string[] = [];
  const add = (name: string) => (element: HTMLRewriterTypes.Element) => {
    targets.push(element.getAttribute(name) ?? "");
  };
  new HTMLRewriter()
    .on("a", { element: add("href") })
    .on("[src]", { element: add("src") })
    .on("[srcset]", { element: add("srcset") })
    .on("link", { element: add("href") })
    .on("form", { element: add("action") })
    .transform(readFileSync(join(place, page), "utf8"));
  return targets.filter((target) => !/^(https?|mailto):/.test(target));
}

describe("each page", () => {
  test("there is one of each document", () => {
    const expected = documentPaths().map((path) => path.replace("README.md", "index.html").replace(/\.md$/, ".html"));
    expect(expected.filter((page) => !pages().includes(page))).toEqual([]);
  });

  test("links lead to files that are there, and to headings that they have", () => {
    const broken = pages().flatMap((page) =>
      links(page).flatMap((target) => {
        const [file = "", anchor] = target.split("#");
        const linked = file === "" ? join(place, page) : join(place, dirname(page), file);
        if (!existsSync(linked)) return [`${page}: ${target}`];
        if (anchor === undefined || anchor === "") return [];
        return readFileSync(linked, "utf8").includes(`id="${anchor}"`) ? [] : [`${page}: ${target}`];
      }),
    );
    expect(broken).toEqual([]);
  });

  test("it is reached from the first one", () => {
    const reached = new Set(["index.html"]);
    for (const page of reached) {
      if (!page.endsWith(".html")) continue;
      for (const target of links(page)) reached.add(normalize(join(dirname(page), target.split("#")[0] ?? "")));
    }
    expect(pages().filter((page) => !reached.has(page))).toEqual([]);
  });

  test("it loads nothing from elsewhere, and has no script but the search's page", () => {
    for (const page of pages()) {
      const text = readFileSync(join(place, page), "utf8");
      expect([page, /<(link|img|script|source|iframe)[^>]*\b(href|src|srcset)="(https?:)?\/\//.test(text)]).toEqual([
        page,
        false,
      ]);
      expect([page, text.includes("<script")]).toEqual([page, page === "search.html"]);
    }
  });

  test("a link that leads nowhere is a fault, with the document's name", () => {
    expect(() => documentOf("docs/new.md", "# New\n\n[x](gone.md)", "1")).toThrow("docs/new.md links to gone.md");
  });
});

describe("versions", () => {
  test("older ones stay as they are; the address leads to the newest", async () => {
    const other = mkdtempSync(join(tmpdir(), "uam-site-"));
    try {
      await makeSite(other, "0.9.0");
      writeFileSync(join(other, "0.9.0/kept"), "");
      await makeSite(other, "0.10.0");
      expect(existsSync(join(other, "0.9.0/kept"))).toBe(true);
      expect(readFileSync(join(other, "index.html"), "utf8")).toContain("url=0.10.0/index.html");
      const listed = readFileSync(join(other, "versions.html"), "utf8").match(/[\d.]+(?=<\/a>)/g);
      expect(listed).toEqual(["0.10.0", "0.9.0"]);
    } finally {
      rmSync(other, { recursive: true });
    }
  });
});

test("the search has each section's words, as they are read", () => {
  const text = readFileSync(join(place, "sections.js"), "utf8");
  const sections: readonly string[][] = JSON.parse(text.slice(text.indexOf("["), text.lastIndexOf("]") + 1));
  const found = sections.find(([link]) => link === "docs/hours.html#changes-of-the-clock");
  expect(found?.slice(1, 3)).toEqual(["Hours", "Changes of the clock"]);
  expect(found?.[3]).toContain("A time that does not exist on a day");
  expect(text).not.toContain("&lt;");
});
