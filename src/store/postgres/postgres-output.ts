/** Turns the output of a PostgreSQL program into the end of a sentence. */

const hints: readonly (readonly [RegExp, string])[] = [
  [/No space left on device/i, "The disk is full."],
  [/libstdc\+\+/, "Install the C++ runtime (Debian: apt install libstdc++6)."],
  [/failed to execute .*Permission denied/s, "The file system may be mounted noexec; choose another UAM_DATA_DIR."],
  [/could not look up effective user ID/, "Give this uid a name in /etc/passwd, or set UAM_DATABASE_URL."],
  [/cannot allocate memory|out of memory/i, "The host lacks memory."],
];

/** The last lines of `output` in one, with the remedy if the cause is known. */
export function explainOutput(output: string): string {
  const lines = output.split("\n").filter((line) => line.trim() !== "");
  const end = lines.slice(-4).join(" | ").slice(-600) || "it wrote nothing";
  const hint = hints.find(([pattern]) => pattern.test(output))?.[1];
  return hint === undefined ? `${end}.` : `${end}. ${hint}`;
}
