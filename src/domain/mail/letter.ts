/** A letter as blocks, written out as plain text and as simple HTML that says the same and loads nothing. */

import { blankControlCharacters } from "../../shared/text/text.ts";
import { dayThatEnds } from "../../shared/time/day-end.ts";
export interface Letter {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

export type Block =
  | { readonly kind: "heading"; readonly text: string }
  | { readonly kind: "paragraph"; readonly text: string }
  | { readonly kind: "fact"; readonly name: string; readonly value: string }
  | { readonly kind: "link"; readonly url: string }
  | { readonly kind: "button"; readonly label: string; readonly url: string }
  | { readonly kind: "code"; readonly text: string }
  | { readonly kind: "quote"; readonly lines: readonly string[] }
  | { readonly kind: "token"; readonly text: string };

/** The topic of the following blocks. */
export function heading(text: string): Block {
  return { kind: "heading", text };
}

/** Our own running text; values in it have been through `line`. */
export function paragraph(text: string): Block {
  return { kind: "paragraph", text };
}

/** A fixed name and a value that anybody may have written; an empty value is shown as a dash. */
export function fact(name: string, value: string): Block {
  return { kind: "fact", name, value: line(value) || "-" };
}

/** An address to follow, shown in full. */
export function link(url: string): Block {
  return { kind: "link", url: line(url) };
}

/**
 * A page that does what the label says, with its address below for readers who cannot press it or want to see it first.
 */
export function button(label: string, url: string): Block {
  return { kind: "button", label, url: line(url) };
}

/** What strangers typed, marked as such at the beginning of each line; it cannot look like our own text. */
export function quote(lines: readonly string[]): Block {
  return { kind: "quote", lines: lines.map(line) };
}

/** Text to copy, character by character; line breaks are kept. */
export function code(text: string): Block {
  return { kind: "code", text: text.split("\n").map(line).join("\n") };
}

/** The same for a short secret that people may have to type. */
export function token(text: string): Block {
  return { kind: "token", text: line(text) };
}

/** The subject on one line of at most 150 characters, and the blocks in both forms. */
export function letter(subject: string, blocks: readonly Block[]): Letter {
  const text = blocks
    .map((block, index) => asText(block) + (block.kind === "fact" && blocks[index + 1]?.kind !== "fact" ? "\n" : ""))
    .join("\n")
    .replace(/\n\n\n+/g, "\n\n")
    .trim();
  return {
    subject: [...line(subject)].slice(0, 150).join(""),
    text: `${text}\n`,
    html: page(
      line(subject),
      blocks.map((block, index) => asHtml(block, blocks[index - 1], blocks[index + 1])).join("\n"),
    ),
  };
}

/**
 * A value on one line: control characters, line and paragraph separators, blank characters without width and those that turn the
 * direction of writing become spaces, spaces are made single. Lone surrogates become U+FFFD.
 */
export function line(value: string): string {
  return blankControlCharacters(value.toWellFormed())
    .replace(/[\p{Bidi_Control}\u200b\u2060\ufeff]/gu, " ")
    .replace(/ {2,}/g, " ")
    .trim();
}

/** `20 November 2026, 08:00 UTC`. */
export function date(at: Date): string {
  return `${day(at)}, ${at.toISOString().slice(11, 16)} UTC`;
}

/** The same of an end of access: `20 November 2026, end of the day in UTC` where a date was typed. */
export function endDate(at: Date): string {
  return dayThatEnds(at.getTime()) === undefined ? date(at) : `${endDay(at)}, end of the day in UTC`;
}

/** The day of an end of access. */
export function endDay(at: Date): string {
  return day(new Date(dayThatEnds(at.getTime()) ?? at));
}

/** `20 November 2026`, in UTC. */
export function day(at: Date): string {
  return `${at.getUTCDate()} ${MONTHS[at.getUTCMonth()]} ${at.getUTCFullYear()}`;
}

/** Written out here, because formatting a date for a language takes longer than the rest of a letter. */
const MONTHS = [
  ...["January", "February", "March", "April", "May", "June"],
  ...["July", "August", "September", "October", "November", "December"],
] as const;

/** Columns of the text; a terminal has 80, and a reply puts `> ` in front. */
const WIDTH = 76;
/** Two columns of margin, and the names of facts below each other. */
const FACT_INDENT = 15;

function asText(block: Block): string {
  switch (block.kind) {
    case "heading":
      return `\n${block.text}\n`;
    case "paragraph":
      return `\n${wrap(block.text, WIDTH)}\n`;
    case "fact": {
      const name = `${`${block.name}:`.padEnd(FACT_INDENT - 3)} `;
      return `  ${name}${wrap(block.value, WIDTH - FACT_INDENT).replace(/\n/g, `\n${" ".repeat(FACT_INDENT)}`)}`;
    }
    case "link":
      return `  ${block.url}\n`;
    case "button":
      return `\n${block.label}:\n  ${block.url}\n`;
    case "quote":
      return `\n${block.lines.map(quoted).join("\n")}\n`;
    case "code":
    case "token":
      return `${block.text.replace(/^/gm, "    ")}\n`;
  }
}

function quoted(text: string): string {
  return wrap(text, WIDTH - 2).replace(/^/gm, "> ");
}

/** Greys that can be seen on white and on black alike: mail readers choose the colours, and few of them apply a style sheet. */
const PANEL = "margin:0 0 16px;padding:10px 12px;border-radius:6px;background:rgba(127,127,127,.15)";
const MONOSPACE = "ui-monospace,SFMono-Regular,Menlo,Consolas,monospace";
const WRAPPED = "white-space:pre-wrap;overflow-wrap:anywhere";
/** Its own two colours, so that it looks the same on white and on black; the ratio of contrast between them is 6.4. */
const BUTTON = "display:inline-block;padding:10px 20px;border-radius:6px;background:#1d5fae;color:#ffffff";

/** Block by block; facts that follow each other are one table. */
function asHtml(block: Block, before: Block | undefined, after: Block | undefined): string {
  switch (block.kind) {
    case "heading":
      return `<p style="margin:24px 0 8px;font-size:17px;font-weight:bold">${escapeHtml(block.text)}</p>`;
    case "paragraph":
      return `<p style="margin:0 0 16px">${escapeHtml(block.text)}</p>`;
    case "fact": {
      const name = `<td style="padding:2px 16px 2px 0;vertical-align:top;white-space:nowrap;opacity:.75">${escapeHtml(block.name)}:</td>`;
      const row = `<tr>${name}<td style="padding:2px 0;vertical-align:top;overflow-wrap:anywhere">${escapeHtml(block.value)}</td></tr>`;
      const begins = before?.kind === "fact" ? "" : '<table style="margin:0 0 16px;border-collapse:collapse">\n';
      return begins + row + (after?.kind === "fact" ? "" : "\n</table>");
    }
    case "link":
      return `<p style="margin:0 0 16px;overflow-wrap:anywhere">${anchor(block.url)}</p>`;
    case "button":
      return `<p style="margin:20px 0 4px">${anchor(block.url, block.label, `${BUTTON};font-weight:bold;text-decoration:none`)}</p>\n<p style="margin:0 0 20px;font-size:13px;opacity:.75;overflow-wrap:anywhere">${escapeHtml(block.url)}</p>`;
    case "quote":
      return `<blockquote style="${PANEL}">${block.lines.map((text) => escapeHtml(`> ${text}`)).join("<br>")}</blockquote>`;
    case "code":
      return `<pre style="${PANEL};font:14px/1.5 ${MONOSPACE};${WRAPPED}">${escapeHtml(block.text)}</pre>`;
    case "token":
      return `<pre style="${PANEL};font:24px/1.4 ${MONOSPACE};${WRAPPED}">${escapeHtml(block.text)}</pre>`;
  }
}

function page(subject: string, body: string): string {
  const meta = [
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    '<meta name="supported-color-schemes" content="light dark">',
  ];
  const font = "font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";
  return [
    `<!doctype html><html lang="en"><head>${meta.join("")}<title>${escapeHtml(subject)}</title></head>`,
    `<body style="margin:0;padding:0"><div style="max-width:38em;margin:0 auto;padding:24px 20px;overflow-wrap:anywhere;${font}">`,
    body,
    "</div></body></html>\n",
  ].join("\n");
}

/** Only web addresses become links; nothing else gets a scheme that a mail reader would run. */
function anchor(url: string, text = url, style?: string): string {
  const shown = escapeHtml(text);
  if (!/^https?:\/\//.test(url)) return shown;
  return `<a href="${escapeHtml(url)}"${style === undefined ? "" : ` style="${style}"`}>${shown}</a>`;
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

/** Between words only: addresses and names stay whole. */
function wrap(text: string, width: number): string {
  return text.replace(new RegExp(`(?=\\S)(.{1,${width}})(?: +|$)`, "g"), "$1\n").trimEnd();
}
