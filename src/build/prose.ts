/** The lines of the documents' prose. */

/** Characters in a line of prose: what a terminal, a diff and a review show without breaking it. */
export const PROSE_WIDTH = 100;

/**
 * The Markdown with each paragraph and list item that has a longer line filled anew. Tables, code, headings, HTML and what fits stay as they
 * are. Code spans are not broken: a line is longer only if a single word of it is.
 */
export function wrapProse(markdown: string): string {
  const result: string[] = [];
  const block: string[] = [];
  let isCode = false;
  const end = () => result.push(...filled(block.splice(0)));
  for (const line of markdown.split("\n")) {
    const isFence = /^\s*```/.test(line);
    if (isCode || isFence || /^\s*$|^[|#<]/.test(line) || (block.length === 0 && line.startsWith("    "))) {
      end();
      result.push(line);
      if (isFence) isCode = !isCode;
    } else {
      if (ITEM.test(line)) end();
      block.push(line);
    }
  }
  end();
  return result.join("\n");
}

/** The mark before the text of a list's item. */
export const ITEM = /^\s*(?:[-*+]|\d+[.)])\s+/;

function filled(block: readonly string[]): readonly string[] {
  const [first = ""] = block;
  if (block.every((line) => line.length <= PROSE_WIDTH)) return block;
  const marker = ITEM.exec(first)?.[0] ?? /^\s*/.exec(first)?.[0] ?? "";
  const words = wordsOf(block.join(" ").slice(marker.length));
  const lines: string[] = [];
  let line = marker + (words[0] ?? "");
  for (const word of words.slice(1)) {
    if (line.length + 1 + word.length <= PROSE_WIDTH) line += ` ${word}`;
    else {
      lines.push(line);
      line = " ".repeat(marker.length) + word;
    }
  }
  return [...lines, line];
}

/** At the beginning of a line, Markdown takes these for a list, a heading, a quotation, a table or HTML. */
const BEGINS_BLOCK = /^(?:[-+*]|\d+[.)]|#{1,6}|[-=]+|[>|<].*)$/;

/** Text within which no line may end, and with which none may begin. */
function wordsOf(text: string): readonly string[] {
  const words: string[] = [];
  for (const word of text.match(/(?:`[^`]*`|[^\s`])+/g) ?? []) {
    const last = words.at(-1);
    if (last === undefined || !BEGINS_BLOCK.test(word)) words.push(word.replace(/\s+/g, " "));
    else words[words.length - 1] = `${last} ${word}`;
  }
  return words;
}
