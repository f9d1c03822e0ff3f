/** A FUSE mount whose server reads each request and never answers: a process that uses it cannot be killed. In Perl, which Debian has. */

import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";

export interface HeldMount {
  /** Resolves when a request was read that will have no answer. */
  readonly asked: Promise<void>;
}

export interface HeldMountOptions {
  /** Where it is mounted; a Buffer for a name that is not text. */
  readonly path: string | Buffer;
  /** The uid that mounted it, as the kernel records it. */
  readonly mounter: number;
  /** Who runs the server. */
  readonly server: number;
}

const FUSE_INIT = 26;
const SERVER = `
use POSIX; $| = 1; $^F = 9;
my ($path, $mounter, $server) = @ARGV; $path = pack("H*", $path);
mkdir $path; chown $mounter, $mounter, $path;
sysopen(F, "/dev/fuse", O_RDWR) or die "fuse: $!";
my $options = "fd=" . fileno(F) . ",rootmode=40000,user_id=$mounter,group_id=$mounter,allow_other";
system("mount", "-i", "-t", "fuse", "-o", $options, "uam-test", $path) == 0 or die "mount";
POSIX::setgid($server); POSIX::setuid($server);
print "mounted\\n";
while (sysread(F, $_, 200000)) {
  my ($length, $opcode, $unique) = unpack("LLQ", $_);
  if ($opcode == ${FUSE_INIT}) {
    syswrite(F, pack("LlQ LLLLSSLLSSL L7", 80, 0, $unique, 7, 31, 65536, 0, 8, 8, 65536, 1, 0, 0, 0, (0) x 7));
  } else { print "asked\\n" }
}
`;

/** True where this machine lets root have such a mount. */
export const hasFuse = existsSync("/dev/fuse") && existsSync("/usr/bin/perl");

/** Does the work while it is mounted, and removes everything. */
export async function withHeldMount(
  options: HeldMountOptions,
  work: (mount: HeldMount) => Promise<void>,
): Promise<void> {
  const { path, mounter, server } = options;
  const hex = Buffer.from(path as string).toString("hex");
  const child = spawn("/usr/bin/perl", ["-e", SERVER, hex, String(mounter), String(server)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const mounted = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  createInterface({ input: child.stdout }).on("line", (line) => (line === "mounted" ? mounted : asked).resolve());
  child.once("exit", () => mounted.reject(new Error("the FUSE server ended")));
  try {
    await mounted.promise;
    await work({ asked: asked.promise });
  } finally {
    child.kill("SIGKILL");
    spawnSync("/usr/bin/perl", ["-e", 'system("umount", "-l", pack("H*", $ARGV[0]))', hex], { stdio: "ignore" });
  }
}

/** Does the work with the control file system of FUSE in its place: usable, or read-only as in a sandbox. */
export async function withFuseControl(writable: boolean, work: () => Promise<void>): Promise<void> {
  const place = "/sys/fs/fuse/connections";
  const mount = (...args: readonly string[]) => {
    const { status, stderr } = spawnSync("mount", args, { encoding: "utf8" });
    if (status !== 0) throw new Error(`mount ${args.join(" ")}: ${stderr}`);
  };
  const unmount = mountFuseControl();
  try {
    if (!writable) mount("-o", "remount,bind,ro", place);
    await work();
  } finally {
    if (!writable) mount("-o", "remount,bind,rw", place);
    unmount();
  }
}

/** The control file system of FUSE as on a booted host; returns what takes it away again. */
export function mountFuseControl(): () => void {
  const place = "/sys/fs/fuse/connections";
  const { status } = spawnSync("mount", ["-t", "fusectl", "fusectl", place], { stdio: "ignore" });
  // Where it is mounted already there is nothing to take away.
  return () => void (status === 0 && spawnSync("umount", ["-l", place]));
}
