/**
 * What sshd says of its settings (`sshd -T`). Whoever asks sshd reads its answer here: names are compared in any case, because
 * OpenSSH writes them in lower case until 10.3 and mixed from 10.4 on; values stay as they are.
 */

/** The values of each setting, by its name in lower case, in the order of the lines; a setting may occur more than once. */
export type SshdSettings = ReadonlyMap<string, readonly string[]>;

/**
 * What every sshd says, whatever is configured. Where one of them is missing, the answer is of a kind that is not known, and
 * that nothing else is said in it proves nothing.
 */
const ALWAYS_SAID = ["AuthorizedKeysFile", "PubkeyAuthentication", "StrictModes", "PermitUserRC", "HostKey"] as const;

/** The answer, taken apart. Pure. */
export function parseSshdSettings(text: string): SshdSettings {
  const settings = new Map<string, string[]>();
  for (const line of text.split("\n")) {
    if (line === "") continue;
    const [name = "", ...values] = line.split(" ");
    const key = name.toLowerCase();
    settings.set(key, [...(settings.get(key) ?? []), values.join(" ")]);
  }
  return settings;
}

/** All values of a setting, whose name may be written in any case; none if the answer does not have it. */
export function valuesOf(settings: SshdSettings, name: string): readonly string[] {
  return settings.get(name.toLowerCase()) ?? [];
}

/** A sentence if the answer lacks what every sshd says, so that it cannot be relied on; undefined if it has all of it. */
export function faultIn(settings: SshdSettings): string | undefined {
  const missing = ALWAYS_SAID.filter((name) => valuesOf(settings, name).length === 0);
  if (missing.length === 0) return undefined;
  return `sshd -T does not say what ${missing.join(", ")} ${missing.length === 1 ? "is" : "are"}: its answer is not understood`;
}
