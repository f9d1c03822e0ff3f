/** A letter as blocks, written out as plain text and as simple HTML that says the same and loads nothing. */

export interface Letter {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

export type Block =
  | { readonly kind: "paragraph"; readonly text: string }
  | { readonly kind: "fact"; readonly name: string; readonly value: string }
  | { readonly kind: "link"; readonly url: string }
  | { readonly kind: "code"; readonly text: string };

/** Running text of ours; values in it have been through `line`. */
export function paragraph(text: string): Block {
  return { kind: "paragraph", text };
}

/** A name of ours and a value of anybody's; an empty value is shown as a dash. */
export function fact(name: string, value: string): Block {
  return { kind: "fact", name, value: line(value) || "-" };
}

/** An address to follow, shown in full. */
export function link(url: string): Block {
  return { kind: "link", url: line(url) };
}

/** Text to copy, character by character; line breaks are kept. */
export function code(text: string): Block {
  return { kind: "code", text: text.split("\n").map(line).join("\n") };
}

/** The subject on one line of at most 150 characters, and the blocks in both forms. */
export function letter(subject: string, blocks: readonly Block[]): Letter {
  const text = blocks
    .map(asText)
    .join("\n")
    .replace(/\n\n\n+/g, "\n\n")
    .trim();
  const style = "font-family:sans-serif;font-size:16px;line-height:1.5;max-width:36em";
  const head = `<head><meta charset="utf-8"><title>${escapeHtml(line(subject))}</title></head>`;
  return {
    subject: [...line(subject)].slice(0, 150).join(""),
    text: `${text}\n`,
    html: `<!doctype html><html lang="en">${head}<body style="${style}">\n${blocks.map(asHtml).join("\n")}\n</body></html>\n`,
  };
}

/**
 * A value on one line: control characters, line and paragraph separators, blank characters without width and those that turn the
 * direction of writing become spaces, spaces are made single. Lone surrogates become U+FFFD.
 */
export function line(value: string): string {
  return value
    .toWellFormed()
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\u200b\u2060\ufeff]/gu, " ")
    .replace(/ {2,}/g, " ")
    .trim();
}

/** `20 November 2026, 08:00 UTC`. */
export function date(at: Date): string {
  const day = at.toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" });
  return `${day}, ${at.toISOString().slice(11, 16)} UTC`;
}

function asText(block: Block): string {
  switch (block.kind) {
    case "paragraph":
      return `\n${wrap(block.text)}\n`;
    case "fact":
      return `  ${`${block.name}:`.padEnd(13)}${block.value}`;
    case "link":
      return `  ${block.url}\n`;
    case "code":
      return `${block.text.replace(/^/gm, "    ")}\n`;
  }
}

function asHtml(block: Block): string {
  switch (block.kind) {
    case "paragraph":
      return `<p>${escapeHtml(block.text)}</p>`;
    case "fact":
      return `<div><strong>${escapeHtml(block.name)}:</strong> ${escapeHtml(block.value)}</div>`;
    case "link":
      return `<p>${anchor(block.url)}</p>`;
    case "code":
      return `<pre style="font-size:18px;white-space:pre-wrap">${escapeHtml(block.text)}</pre>`;
  }
}

/** Only web addresses become links; nothing else gets a scheme that a mail reader would run. */
function anchor(url: string): string {
  const shown = escapeHtml(url);
  return /^https?:\/\//.test(url) ? `<a href="${shown}">${shown}</a>` : shown;
}

function escapeHtml(text: string): string {
  const entities: Readonly<Record<string, string>> = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
    "'": "&#39;",
  };
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? "");
}

/** At 76 characters, between words only: addresses and names stay whole. */
function wrap(text: string): string {
  return text.replace(/(?=\S)(.{1,76})(?: +|$)/g, "$1\n").trimEnd();
}
