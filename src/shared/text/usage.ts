/** The usage of a command in lines that fit. */

/** The usage in lines of at most `width`; one ends only between arguments, never within brackets, unless an argument is longer. */
export function usageLines(usage: string, width: number): readonly string[] {
  const lines: string[] = [];
  let term = "";
  for (const word of usage.split(" ")) {
    term = term === "" ? word : `${term} ${word}`;
    if (count(term, /[[({]/g) > count(term, /[\])}]/g)) continue;
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + term.length > width) lines.push(term);
    else lines[lines.length - 1] = `${last} ${term}`;
    term = "";
  }
  return term === "" ? lines : [...lines, term];
}

const BEGIN = "Usage: ";
const INDENT = " ".repeat(BEGIN.length);

/** Help with its usages, whose lines end anywhere, in lines that fit into `width`; each usage begins with `uam`. */
export function fillUsage(help: string, width: number): string {
  return help.replace(/^Usage: .*(?:\n {7}\S.*)*/m, (text) => {
    const usages = text.slice(BEGIN.length).split(/\n\s*(?=uam )/);
    const filled = usages.flatMap((usage) => {
      const whole = usage.replace(/\s*\n\s*/g, " ").replace(/([[(]) (?=\S)/g, "$1");
      return usageLines(whole, width - BEGIN.length);
    });
    return BEGIN + filled.join(`\n${INDENT}`);
  });
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}
