/** The real ssh-keygen as the yardstick for keys. There is no fallback: if it is missing, the tests fail. */

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** What `ssh-keygen -l` printed for a line. */
export interface Listed {
  readonly bits: number;
  readonly fingerprint: string;
  /** As printed, e.g. `ED25519` or `RSA`. */
  readonly type: string;
}

// A key that no test uses, to show in the output which line a result belongs to.
const MARKER = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8g marker";

/** The output of `ssh-keygen -l -f` for a file with just this text, or undefined if it refuses the file. */
export function listFile(text: string): Listed | undefined {
  return inDirectory((directory) => {
    const path = join(directory, "key");
    writeFileSync(path, text, { mode: 0o600 });
    const { status, stdout } = run(["-l", "-f", path]);
    const [entry = ""] = stdout.split(/(?<=\n)(?=\d+ SHA256:)/);
    return status === 0 ? parseListed(entry) : undefined;
  });
}

/**
 * The output of ssh-keygen for each line, in one run: it skips the lines that contain no key, and a marker key follows each line.
 * None of the lines may contain a newline.
 */
export function listLines(lines: readonly string[]): readonly (Listed | undefined)[] {
  const marker = listFile(`${MARKER}\n`);
  // For a key without a comment it prints what its buffer held before: a longest line at the start keeps the buffer in place.
  const longest = "#".repeat(Math.max(...lines.map((line) => Buffer.byteLength(line))) + 1000);
  const output = inDirectory((directory) => {
    const path = join(directory, "keys");
    writeFileSync(path, [longest, MARKER, ...lines.flatMap((line) => [line, MARKER])].join("\n"), { mode: 0o600 });
    return run(["-l", "-f", path]).stdout;
  });
  const listed: (Listed | undefined)[] = [];
  let current: Listed | undefined;
  for (const entry of output.split(/^(?=\d+ SHA256:)/m).slice(1)) {
    const next = parseListed(entry);
    if (next.fingerprint === marker?.fingerprint) {
      listed.push(current);
      current = undefined;
    } else {
      current = next;
    }
  }
  if (listed.length !== lines.length) throw new Error(`ssh-keygen listed ${listed.length} of ${lines.length} lines`);
  return listed;
}

/** The public line of a fresh key, `ssh-keygen <options>`. */
export function generateKey(options: readonly string[]): string {
  return inDirectory((directory) => {
    const path = join(directory, "key");
    const { status } = run(["-q", "-N", "", "-C", "made for a test", "-f", path, ...options]);
    if (status !== 0) throw new Error(`ssh-keygen ${options.join(" ")} failed`);
    return readFileSync(`${path}.pub`, "utf8");
  });
}

/** The instant at which ssh-keygen ends a certificate that is valid until `time` (YYYYMMDDHHMMSS) in the zone `timeZone`. */
export function certificateEnd(time: string, timeZone: string): Date {
  return inDirectory((directory) => {
    const key = join(directory, "key");
    run(["-q", "-N", "", "-t", "ed25519", "-f", key]);
    run(["-q", "-s", key, "-I", "test", "-V", `20200101:${time}`, `${key}.pub`], timeZone);
    const { stdout } = run(["-L", "-f", `${key}-cert.pub`], "UTC");
    return new Date(`${/Valid: from \S+ to (\S+)/.exec(stdout)?.[1]}Z`);
  });
}

function inDirectory<T>(use: (directory: string) => T): T {
  const directory = mkdtempSync(join(tmpdir(), "uam-keys-"));
  try {
    return use(directory);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function run(
  options: readonly string[],
  timeZone = "UTC",
): { readonly status: number | null; readonly stdout: string } {
  const env = { PATH: "/usr/local/bin:/usr/bin:/bin", LC_ALL: "C", TZ: timeZone };
  const { error, status, stdout } = spawnSync("ssh-keygen", options, { encoding: "utf8", env, timeout: 60_000 });
  if (error !== undefined) throw new Error(`ssh-keygen (package openssh-client) does not run: ${error.message}`);
  return { status, stdout };
}

function parseListed(entry: string): Listed {
  const match = /^(\d+) (SHA256:\S+) .*\(([A-Z0-9-]+)\)\n$/s.exec(entry);
  const [, bits, fingerprint, type] = match ?? [];
  if (fingerprint === undefined || type === undefined) throw new Error(`unexpected output of ssh-keygen: ${entry}`);
  return { bits: Number(bits), fingerprint, type };
}
