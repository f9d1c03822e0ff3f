// Finds the sections that have all words of ?q=, in the headings first. SECTIONS is in sections.js, beside this: [link, title, heading, text].

const query = new URLSearchParams(location.search).get("q") ?? "";
const words = query.toLowerCase().split(/\s+/).filter(Boolean);
const MOST = 50;
const BEFORE = 60;
const SHOWN = 200;

document.querySelector("input[type=search]").value = query;

const found = SECTIONS.map(([link, title, heading, text]) => {
  const above = `${title} ${heading}`.toLowerCase();
  const below = text.toLowerCase();
  const has = words.every((word) => above.includes(word) || below.includes(word));
  const points =
    words.filter((word) => heading.toLowerCase().includes(word)).length * 2 +
    words.filter((word) => above.includes(word)).length;
  return { link, title, heading, text, has, points };
})
  .filter(({ has }) => has && words.length > 0)
  .sort((one, other) => other.points - one.points);

const more = found.length > MOST ? `, the first ${MOST} of them below` : "";
if (words.length > 0) {
  document.querySelector("#found").textContent =
    found.length === 0
      ? `No section has “${query}”.`
      : `${found.length} ${found.length === 1 ? "section" : "sections"}${more}`;
}

for (const { link, title, heading, text } of found.slice(0, MOST)) {
  const item = document.createElement("li");
  const anchor = document.createElement("a");
  anchor.href = link;
  anchor.textContent = heading === title ? title : `${title}: ${heading}`;
  const at = Math.max(0, ...words.map((word) => text.toLowerCase().indexOf(word)));
  const begin = Math.max(0, at - BEFORE);
  const excerpt = document.createElement("p");
  excerpt.textContent = `${begin > 0 ? "…" : ""}${text.slice(begin, begin + SHOWN)}${begin + SHOWN < text.length ? "…" : ""}`;
  item.append(anchor, excerpt);
  document.querySelector("#results").append(item);
}
