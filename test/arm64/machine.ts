/** This machine with an arm64 processor: the same files and accounts, and a kernel that starts arm64 programs. */

import { writeFileSync } from "node:fs";
import { findLeader } from "../debian/leader.ts";
import { type Outcome, run } from "../debian/shell.ts";

export const EMULATOR = "/usr/bin/qemu-aarch64";

export interface Arm64Machine {
  /** Runs an argv array with only these variables, at most `seconds`; throws its output unless it exits with 0. */
  must(argv: readonly string[], variables: Readonly<Record<string, string>>, seconds: number): Promise<string>;
  /** Starts one that keeps running; its output is this process's. */
  start(argv: readonly string[], variables: Readonly<Record<string, string>>): Bun.Subprocess;
  /** Ends everything in it at once. */
  stop(): Promise<void>;
}

// The head of an ELF file: 64 bits, little endian, ET_EXEC or ET_DYN, EM_AARCH64; see binfmt_misc in the kernel's manual.
const MAGIC = "\\x7fELF\\x02\\x01\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x02\\x00\\xb7\\x00";
const MASK = "\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\x00\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xfe\\xff\\xff\\xff";
const BINFMT = "/proc/sys/fs/binfmt_misc";
const ALL_IDS = "0 0 4294967295\n";

/**
 * In namespaces of its own: the rest of the machine sees neither the libraries nor the kernel's rule for arm64. All uids are
 * mapped to themselves, so that the database server has its own uid as usual. Needs Linux 6.7, which lets a user
 * namespace have its own binfmt_misc.
 */
export async function openMachine(libraries: string): Promise<Arm64Machine> {
  const init = Bun.spawn(
    [
      ...["setpriv", "--pdeathsig", "KILL", "unshare", "--user", "--mount", "--pid", "--fork", "--kill-child=KILL"],
      ...["sleep", "infinity"],
    ],
    { stdin: "ignore", stdout: "inherit", stderr: "inherit" },
  );
  const stop = async () => {
    init.kill("SIGKILL");
    await init.exited;
  };
  try {
    // unshare takes the place of setpriv, and sleep is its child.
    const leader = await findLeader(init, ["sleep"], 20);
    if (leader === undefined) throw new Error("unshare(1) made no namespaces here.");
    for (const map of ["uid_map", "gid_map"]) writeFileSync(`/proc/${leader}/${map}`, ALL_IDS);
    const enter = ["nsenter", `--target=${leader}`, "--user", "--mount", "--pid", "--setuid=0", "--setgid=0"];
    const command = (argv: readonly string[], variables: Readonly<Record<string, string>>) => {
      const path = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
      return [
        ...enter,
        "env",
        "-i",
        path,
        ...Object.entries(variables).map(([name, value]) => `${name}=${value}`),
        ...argv,
      ];
    };
    const machine: Arm64Machine = {
      must: async (argv, variables, seconds) => succeeded(argv, await run(command(argv, variables), seconds)),
      start: (argv, variables) =>
        Bun.spawn(command(argv, variables), { stdin: "ignore", stdout: "inherit", stderr: "inherit" }),
      stop,
    };
    await machine.must(
      [
        "sh",
        "-euc",
        `mount -t proc proc /proc
        mount -t overlay -o "lowerdir=$LIBRARIES:/usr/lib" overlay /usr/lib
        mount -t binfmt_misc binfmt_misc ${BINFMT}
        printf %s "$RULE" > ${BINFMT}/register`,
      ],
      { LIBRARIES: libraries, RULE: `:arm64:M::${MAGIC}:${MASK}:${EMULATOR}:` },
      20,
    );
    return machine;
  } catch (error) {
    await stop();
    throw error;
  }
}

function succeeded(argv: readonly string[], { status, stdout, stderr }: Outcome): string {
  if (status !== 0) throw new Error(`${argv.join(" ")} ended with ${status}:\n${stdout}${stderr}`);
  return stdout;
}
