/** What the failed tests of a run said, out of all that it said. */

/** What a test may say in the summary: its end, where the assertion is, counts. */
const LONGEST = 8000;
/** The line that begins what Bun says of a file's tests; those of a worker's files can take turns with another's. */
const FILE = /^(test\/\S+):$/;
/** The last line of a test that has nothing to tell; what came before is its. */
const FINE = /^\((pass|skip|todo)\)/;
const FAILED = /^\(fail\)|^✗ test\/.*\(worker crashed/;
/** Bun's own list of what failed, without the errors, at the end. */
const LIST = /^\d+ tests? failed:$/;
/** What Bun says of a failed test after its last line. */
const AFTERWORD = /^ {2}\^ /;
/** An error as Bun prints it: lines of the source, the message, the stack. */
const ERROR =
  /(?:^ *\d+ \| .*\n)*(?:^ +\^\n)?^\w*[eE]rror: .*\n(?:^(?!\((?:pass|fail|skip|todo)\)|test\/\S+:$).*\n)*?(?:^ +at .*\n)+/gm;

/**
 * For each failed test its file, what it said, as its error, and the line with its name; then the errors that are said elsewhere: what a
 * busy worker prints can come later than the name of its test. `output` is what `bun test` wrote, without colours.
 */
export function whatFailedSaid(output: string): readonly string[] {
  const lines = output.split("\n");
  const end = lines.findIndex((line) => LIST.test(line));
  const failures: string[] = [];
  const said = new Map<string, string[]>();
  let file = "";
  for (const [index, line] of lines.slice(0, end < 0 ? undefined : end).entries()) {
    const heading = FILE.exec(line)?.[1];
    if (heading !== undefined) file = heading;
    else if (FINE.test(line)) said.delete(file);
    else if (FAILED.test(line)) {
      const text = (said.get(file) ?? []).join("\n").slice(-LONGEST);
      const after = AFTERWORD.test(lines[index + 1] ?? "") ? lines[index + 1] : undefined;
      failures.push([file, text, line, after].filter(Boolean).join("\n"));
      said.delete(file);
    } else if (!AFTERWORD.test(line)) {
      const lines = said.get(file) ?? [];
      lines.push(line);
      said.set(file, lines);
    }
  }
  if (failures.length === 0) return [];
  const errors = [...output.matchAll(ERROR)].map(([text]) => text.trimEnd());
  return [...failures, ...errors.filter((error) => !failures.some((failure) => failure.includes(error)))];
}
