/** Changes of a command that sudo mode may ask for, drawn at random: what somebody who took over the service would try. */

import type { Random } from "../closings/random.ts";
import { type Command, drawValues, fillIn, type Ground, templatesOf } from "./grammar.ts";

/** One question to sudo. */
export interface Try extends Command {
  /** Options of sudo's own, before the command. */
  readonly options: readonly string[];
  /** What was changed, for whoever reads of it. */
  readonly how: string;
}

/** Whom the tries know of. */
export interface People {
  /** An account of the marker group, which commands may run as. */
  readonly account: string;
  readonly uid: number;
  /** Names that fit the rules, and names that do not. */
  readonly names: readonly string[];
  readonly others: readonly string[];
}

type Mutation = (random: Random, command: Try, people: People) => Try;

const CHARACTERS = [..."abzAZ059 -_./*?[]{}()|\\^$+~!#%&=:,;<>'\"`@\n\r\t\u0001\u007fé\u202e"];
const ARGUMENTS = [
  ...["-o", "-R", "/", "-r", "-f", "-rf", "--help", "--", "-", "", " ", "*", "..", ".", "/etc/passwd", "/etc/shadow"],
  ...["-G", "sudo", "-u", "0", "-U", "-aG", "-p", "x", "-exec", "sh", ";", "-c", "sh -c id", "-l", "-S", "--root=/tmp"],
  ...[
    "-m",
    "4755",
    "-s",
    "/bin/sh",
    "-t",
    "/etc",
    "of=/etc/passwd",
    "conv=notrunc",
    "--reference=/",
    "-P",
    "/tmp",
    "-x",
  ],
  ...["-ocommand=id", "-f/etc/shadow", "user list", "--debug", "-b", "--suffix=x", "ext_a\n", "--no-preserve-root"],
];
const NAMES = [
  "root",
  "daemon",
  "nobody",
  "ext_",
  "ext_-a",
  "ext_a-",
  "ext_A",
  "ext__",
  `ext_${"x".repeat(29)}`,
  "Ext_a",
];
const ODD_NAMES = [
  "ext_a b",
  "ext_a\n",
  "ext_а",
  "ext_a/..",
  "ext_*",
  "ext_a,root",
  "ext_a:",
  "uam",
  "%uam-ext",
  "#0",
  "ext_.",
];
const UIDS = ["0", "1", "999", "1000", "65534", "-1", "4294967295", "4294967296", "+1", "0x0", "58700,0", "root"];
/** Variables and -h, of which a question says nothing, are tried for real in test/host/sudo-rules.host.test.ts. */
const OPTIONS: readonly (readonly string[])[] = [
  ...[
    ["-E"],
    ["-H"],
    ["-s"],
    ["-i"],
    ["-e"],
    ["-b"],
    ["-A"],
    ["-P"],
    ["-k"],
    ["-C", "99"],
    ["-D", "/tmp"],
    ["-R", "/tmp"],
  ],
  ...[
    ["-g", "root"],
    ["-g", "shadow"],
    ["-g", "#0"],
    ["-g", "sudo"],
    ["-r", "x"],
    ["-t", "x"],
    ["-T", "9"],
  ],
  ...[
    ["-c", "x"],
    ["-p", "x"],
  ],
];

const MUTATIONS: Readonly<Record<string, Mutation>> = {
  "an argument more": (random, it) =>
    withArgs(it, (args) => args.toSpliced(random.below(args.length + 1), 0, random.pick(ARGUMENTS))),
  "an argument less": (random, it) => withArgs(it, (args) => args.toSpliced(random.below(args.length), 1)),
  "an argument twice": (random, it) =>
    withArgs(it, (args) => args.toSpliced(random.below(args.length + 1), 0, random.pick(["", ...args]))),
  "two arguments swapped": (random, it) =>
    withArgs(it, (args) => {
      const [one, other] = [random.below(args.length), random.below(args.length)];
      return args.with(one, args[other] ?? "").with(other, args[one] ?? "");
    }),
  "an argument replaced": (random, it) => change(random, it, () => random.pick(ARGUMENTS)),
  "one character": (random, it) => change(random, it, (text) => oneCharacter(random, text)),
  "a blank where arguments meet": (random, it) =>
    withArgs(it, (args) => {
      const at = random.below(args.length);
      return args.toSpliced(at, 2, args.slice(at, at + 2).join(" "));
    }),
  "an argument cut in two": (random, it) =>
    withArgs(it, (args) => {
      const at = random.below(args.length);
      const text = args[at] ?? "";
      const cut = random.below(text.length + 1);
      return args.toSpliced(at, 1, text.slice(0, cut), text.slice(cut));
    }),
  "a line more": (random, it) =>
    change(random, it, (text) => random.pick([`${text}\n`, `\n${text}`, `x\n${text}`, `${text}\nx`])),
  "a path that goes up": (random, it) =>
    change(random, it, (text) =>
      insertAt(random, text, "/", random.pick(["/..", "/../..", "/.", "/", "/../etc", "/ext_a/.."])),
    ),
  "another name": (random, it, people) => {
    const name = random.pick([...NAMES, ...ODD_NAMES, ...people.others]);
    const known = it.argv.join(" ").match(/ext_[a-z0-9_-]+/)?.[0] ?? people.account;
    const all = random.onceIn(2);
    return withArgs(it, (args) => args.map((text) => (all ? text.replaceAll(known, name) : text.replace(known, name))));
  },
  "another uid": (random, it, people) => {
    const near = [people.uid - 1, people.uid + 100, people.uid * 10].map(String);
    const uid = random.pick([...UIDS, ...near, `0${people.uid}`, ` ${people.uid}`, `${people.uid} `, `+${people.uid}`]);
    return withArgs(it, (args) => args.map((text) => text.replace(/58\d{3}/, uid)));
  },
  "another program": (random, it) => {
    const [program = "", ...args] = it.argv;
    const name = program.slice(program.lastIndexOf("/") + 1);
    const places = [
      `/tmp/${name}`,
      `./${name}`,
      name,
      `${program}/`,
      `/usr/bin/../..${program}`,
      `//${program}`,
      `${program} `,
    ];
    const programs = ["/bin/sh", "/usr/bin/env", "/usr/bin/cp", "/usr/bin/tee", "/usr/bin/pgrep", "/usr/sbin/groupdel"];
    return { ...it, argv: [random.pick([...places, ...programs]), ...args] };
  },
  "an option of sudo's": (random, it) => ({ ...it, options: random.pick(OPTIONS) }),
  "another user to run as": (random, it, people) => ({
    ...it,
    as: random.pick([
      people.account,
      "root",
      "nobody",
      "#0",
      "#-1",
      "#4294967295",
      `#${people.uid + 1}`,
      ...people.others,
    ]),
  }),
  "as root": (_, it) => ({ ...it, as: undefined }),
};

/** A command as the program asks for it, and with chance one or two changes of it. */
export function drawTry(random: Random, ground: Ground, people: People): Try {
  const as = random.onceIn(3) ? "owner" : "root";
  const command = fillIn(random.pick(templatesOf(ground, as)), drawValues(random, ground, people.names));
  let it: Try = { as: as === "owner" ? people.account : undefined, argv: command, options: [], how: "unchanged" };
  // One in twenty stays as it is: these have to be allowed.
  if (random.onceIn(20)) return it;
  for (let count = random.onceIn(4) ? 2 : 1; count > 0; count--) {
    const how = random.pick(Object.keys(MUTATIONS));
    const mutated = MUTATIONS[how]?.(random, it, people) ?? it;
    it = { ...mutated, how: it.how === "unchanged" ? how : `${it.how}, ${how}` };
  }
  return it;
}

function withArgs(it: Try, change: (args: readonly string[]) => readonly string[]): Try {
  const [program = "", ...args] = it.argv;
  return { ...it, argv: [program, ...change(args)] };
}

function change(random: Random, it: Try, to: (text: string) => string): Try {
  const at = random.below(Math.max(1, it.argv.length - 1));
  return withArgs(it, (args) => args.map((text, index) => (index === at ? to(text) : text)));
}

function oneCharacter(random: Random, text: string): string {
  const at = random.below(text.length + 1);
  return text.slice(0, at) + (random.onceIn(4) ? "" : random.pick(CHARACTERS)) + text.slice(at + random.below(2));
}

function insertAt(random: Random, text: string, mark: string, what: string): string {
  const places = [...text].flatMap((character, index) => (character === mark ? [index] : []));
  const at = places.length === 0 ? text.length : random.pick(places);
  return text.slice(0, at) + what + text.slice(at);
}
