/** A journal in a file, read as journalctl reads it: fields that are asked for more than once may have any of the values. */

import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";

/** The boot that the journal is in. */
export const THIS_BOOT = "b".repeat(32);

export interface FakeJournal {
  /** For `HostSettings.tools`. */
  readonly tools: { readonly journalctl: string; readonly journalStream: string };
  /** What was written to its socket, as this process's lines. */
  readonly written: string[];
  /** Adds an entry; of this boot unless it names another. */
  add(entry: Readonly<Record<string, string>>): void;
  close(): void;
}

const READER = `#!/usr/bin/perl
my %wanted;
my $after;
for (@ARGV) {
  push @{$wanted{$1}}, $2 if /^([A-Z_]+)=(.*)$/;
  $after = $1 if /^--after-cursor=(.*)$/;
}
open(my $file, "<", "FILE") or exit 1;
if (defined $after) {
  my $found;
  while (!$found && defined(my $line = <$file>)) { $found = index($line, "\\"__CURSOR\\":\\"$after\\"") >= 0 }
  exit 1 unless $found;
}
my @lines = <$file>;
@lines = reverse @lines if grep { $_ eq "--reverse" } @ARGV;
LINE: for my $line (@lines) {
  for my $field (keys %wanted) {
    next LINE unless grep { index($line, "\\"$field\\":\\"$_\\"") >= 0 } @{$wanted{$field}};
  }
  print $line;
}
`;

export function startFakeJournal(directory: string, uid = "0"): FakeJournal {
  const [file, journalctl, journalStream] = ["journal", "journalctl", "journal.socket"].map((name) =>
    join(directory, name),
  ) as [string, string, string];
  writeFileSync(file, "");
  writeFileSync(journalctl, READER.replace("FILE", file), { mode: 0o755 });
  const written: string[] = [];
  const add: FakeJournal["add"] = (entry) =>
    appendFileSync(file, `${JSON.stringify({ _BOOT_ID: THIS_BOOT, ...entry })}\n`);
  const server = createServer((socket) => {
    let text = "";
    socket.setEncoding("utf8").on("data", (part: string) => {
      text += part;
    });
    socket.on("end", () => {
      // Seven lines of sd_journal_stream_fd(3) come first.
      for (const MESSAGE of text.split("\n").slice(7, -1)) {
        written.push(MESSAGE);
        add({ MESSAGE, _PID: String(process.pid), _UID: uid, __MONOTONIC_TIMESTAMP: "1" });
      }
    });
  });
  server.listen(journalStream);
  return { tools: { journalctl, journalStream }, written, add, close: () => server.close() };
}

/** Now, as an entry's `__MONOTONIC_TIMESTAMP`: whole, as those of journald are. */
export function microsecondsSinceBoot(): string {
  const [uptime] = readFileSync("/proc/uptime", "utf8").split(" ");
  return String(Math.round(Number(uptime) * 1_000_000));
}
