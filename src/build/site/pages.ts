/** The documents as pages: Markdown by Bun, links to documents made links to pages, and the same frame around each. */

import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";
import { BuildError } from "../arguments.ts";
import { PROJECT } from "../packages.ts";

/** A part of a page, from a heading to the next. */
export interface Section {
  /** The heading's anchor; "" for what is before the first. */
  readonly id: string;
  readonly heading: string;
  readonly text: string;
}

/** A document as a page. Paths are from the top of the pages, which are as the project's files are. */
export interface Document {
  readonly page: string;
  readonly title: string;
  readonly html: string;
  readonly sections: readonly Section[];
  /** Files and directories of the project that it shows or links to, and that are no documents. */
  readonly links: readonly string[];
}

/** A page of the document in the file `path`. Throws BuildError about a link that leads nowhere. */
export function documentOf(path: string, text: string, version: string): Document {
  const page = pageOf(path);
  const links: string[] = [];
  const sections: { id: string; heading: string; text: string }[] = [];
  const point = (target: string) => {
    if (/^[a-z]+:|^#/.test(target)) return target;
    const [file = "", anchor] = target.split("#");
    const found = normalize(join(dirname(path), file)).replace(/\/$/, "");
    if (!existsSync(join(PROJECT, found))) throw new BuildError(`${path} links to ${target}, which does not exist.`);
    const readme = join(found, "README.md");
    const document = existsSync(join(PROJECT, readme)) && statSync(join(PROJECT, found)).isDirectory() ? readme : found;
    if (!document.endsWith(".md")) links.push(found);
    const shown = statSync(join(PROJECT, document)).isDirectory() ? `${found}/index.html` : pageOf(document);
    return linkTo(page, shown) + (anchor === undefined ? "" : `#${anchor}`);
  };
  const change = (name: string) => (element: HTMLRewriterTypes.Element) => {
    const target = element.getAttribute(name);
    if (target !== null) element.setAttribute(name, point(target));
  };
  let heading = false;
  const body = new HTMLRewriter()
    .on("a[href]", { element: change("href") })
    .on("img[src]", { element: change("src") })
    .on("source[srcset]", { element: change("srcset") })
    .on("table", {
      element(table) {
        table.before('<div class="wide" tabindex="0">', { html: true });
        table.after("</div>", { html: true });
      },
    })
    .on("pre", {
      element(block) {
        // The arrow keys scroll it for readers without a mouse.
        block.setAttribute("tabindex", "0");
      },
    })
    .on("td, th, li, p, pre", {
      element(element) {
        element.onEndTag(() => {
          const section = sections.at(-1);
          if (section !== undefined) section.text += " ";
        });
      },
    })
    .on("h1, h2, h3", {
      element(element) {
        sections.push({
          id: element.tagName === "h1" ? "" : (element.getAttribute("id") ?? ""),
          heading: "",
          text: "",
        });
        heading = true;
        element.onEndTag(() => {
          heading = false;
        });
      },
    })
    .on("*", {
      text({ text: part }) {
        const section = sections.at(-1);
        if (section !== undefined) section[heading ? "heading" : "text"] += unescaped(part);
      },
    })
    .transform(Bun.markdown.html(text, { headings: { ids: true } }));
  const title = sections[0]?.heading ?? path;
  const html = frame({ page, title, version, body });
  return { page, title, html, links, sections: sections.map((each) => ({ ...each, text: oneLine(each.text) })) };
}

/** The page that searches. */
export function renderSearch(version: string): string {
  const body = `<h1>Search</h1>
<noscript><p>The search needs a script. Without it, your browser finds words on each page.</p></noscript>
<p id="found" role="status"></p>
<ol id="results"></ol>
<script src="sections.js"></script>
<script src="search.js"></script>`;
  return frame({ page: "search.html", title: "Search", version, body });
}

/** The page of a directory that documents link to. */
export function renderListing(path: string, names: readonly string[], version: string): string {
  const items = names.map((name) => `<li><a href="${escaped(name)}">${escaped(name)}</a></li>`).join("\n");
  const body = `<h1>${escaped(path)}</h1>\n<ul>\n${items}\n</ul>`;
  return frame({ page: `${path}/index.html`, title: path, version, body });
}

/** The page of all versions, newest first: above those of each. */
export function renderVersions(versions: readonly string[]): string {
  const items = versions.map((version) => `<li><a href="${version}/index.html">${version}</a></li>`).join("\n");
  const [newest = ""] = versions;
  return `${head("Versions", `${newest}/site.css`)}<body>
<main id="text"><h1>Versions of these documents</h1>
<ul>
${items}
</ul></main>
</body>
</html>
`;
}

function frame(shown: {
  readonly page: string;
  readonly title: string;
  readonly version: string;
  readonly body: string;
}): string {
  const { page, title, version, body } = shown;
  const to = (target: string) => linkTo(page, target);
  const groups = GROUPS.map(({ title: group, items }) => {
    const links = items.map(({ label, target }) => {
      const current = target === page ? ' aria-current="page"' : "";
      return `<li><a href="${to(target)}"${current}>${label}</a></li>`;
    });
    return `<h2>${group}</h2>\n<ul>\n${links.join("\n")}\n</ul>`;
  });
  return `${head(title === "uam" ? "uam" : `${title} · uam`, to("site.css"))}<body>
<a class="skip" href="#text">Skip to the text</a>
<header>
<a class="name" href="${to("index.html")}">uam</a>
<a class="version" href="${to("../versions.html")}">${version}</a>
<a class="menu" href="#documents">Documents</a>
<form role="search" action="${to("search.html")}"><input type="search" name="q" aria-label="Search the documents" placeholder="Search" required></form>
</header>
<div class="columns">
<main id="text">
${body}
</main>
<nav id="documents" aria-label="Documents">
${groups.join("\n")}
</nav>
</div>
</body>
</html>
`;
}

function head(title: string, styles: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)}</title>
<link rel="stylesheet" href="${styles}">
</head>
`;
}

interface Group {
  readonly title: string;
  readonly items: readonly { readonly label: string; readonly target: string }[];
}

/** The menu is the README's table of documents. */
const GROUPS = readGroups();

function readGroups(): readonly Group[] {
  const [, table = ""] = /^## Documents\n(.*?)^## /ms.exec(readFileSync(join(PROJECT, "README.md"), "utf8")) ?? [];
  return [...table.matchAll(/^\| (.+?) \| (.*\]\(.*) \|$/gm)].map(([, title = "", links = ""]) => ({
    title: escaped(title),
    items: [...links.matchAll(/\[([^\]]+)\]\(([^)]+)\)/g)].map(([, label = "", path = ""]) => ({
      label: escaped(label),
      target: path.endsWith("/") ? pageOf(`${path}README.md`) : pageOf(path),
    })),
  }));
}

/** `docs/hours.md` is `docs/hours.html`; a README is the page of its directory. */
function pageOf(path: string): string {
  return path.replace(/README\.md$/, "index.html").replace(/\.md$/, ".html");
}

function linkTo(page: string, target: string): string {
  return relative(dirname(page), target);
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

function escaped(text: string): string {
  return Bun.escapeHTML(text);
}

function unescaped(text: string): string {
  const names: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', amp: "&" };
  return text.replace(/&(lt|gt|quot|amp);/g, (_, name: string) => names[name] ?? "");
}
