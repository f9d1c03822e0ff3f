/**
 * What sudo mode may ask of sudo, written down by hand from docs/sudo-mode.md, without the expressions that the rules are made of:
 * whatever sudo allows is held against it.
 */

import { realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Random } from "../closings/random.ts";

/** What the commands of one host depend on. */
export interface Ground {
  readonly base: string;
  readonly group: string;
  readonly program: readonly string[];
  readonly uids: { readonly first: number; readonly last: number };
}

export interface Command {
  /** The account that it runs as; root without. */
  readonly as: string | undefined;
  readonly argv: readonly string[];
}

/**
 * `asked`: the program could ask for it itself. `shifted`: so it could, were the arguments cut elsewhere; sudo compares them joined
 * by blanks and cannot tell. `other`: neither.
 */
export type Judgement = "asked" | "shifted" | "other";

type Template = readonly string[];
type Values = Record<string, string>;

const DIGITS = "0123456789";
const HEX = `${DIGITS}abcdef`;
const LETTERS = "abcdefghijklmnopqrstuvwxyz";

const GETENT = "/usr/bin/getent shadow {name} {name2} {name3} {name4} {name5} {name6}";

const split = (text: string): Template => text.split(" ");
const SPOOLS = ["crontabs", "tabs", ".", "atjobs", "atspool"].map((name) => join("/var/spool/cron", name));

function rootTemplates({ base, group, program }: Ground): readonly Template[] {
  const trash = `${base}/.uam-trash`;
  const settings = [
    ...["GID_MIN={uid}", "GID_MAX={uid}", "SUB_UID_COUNT=0", "SUB_GID_COUNT=0", "HOME_MODE=0700", "UMASK=077"],
    ...["PASS_MAX_DAYS=-1", "PASS_MIN_DAYS=-1", "PASS_WARN_AGE=-1"],
  ]
    .map((setting) => `-K ${setting}`)
    .join(" ");
  const files = ["/var/lib/systemd/linger", "/var/mail", "/var/spool/mail", ...SPOOLS.slice(0, 3)];
  return [
    split(`/usr/sbin/groupadd --system -- ${group}`),
    split(
      `/usr/sbin/useradd -m -U -u {uid} -e {day} -f -1 -G ${group} ${settings} -s /bin/bash -d ${base}/{name} -p * -- {name}`,
    ),
    split("/usr/sbin/usermod -e {day} -p * -- {name}"),
    split("/usr/sbin/usermod -e 1 -- {name}"),
    split("/usr/bin/chage -m -1 -M -1 -W -1 -I -1 -- {name}"),
    split("/usr/sbin/userdel -- {name}"),
    split("/usr/bin/systemctl kill --signal=SIGKILL user-{uid}.slice"),
    split("/usr/bin/systemctl start user-runtime-dir@{uid}.service"),
    split("/usr/bin/systemctl stop user-runtime-dir@{uid}.service"),
    split("/usr/bin/loginctl disable-linger {name}"),
    split("/usr/bin/pkill -KILL -u {uid}"),
    split("/usr/bin/pkill -KILL -U {uid}"),
    ["/usr/bin/pkill", "-KILL", "-U", "0", "-x", "-f", "--", "sshd(-session)?: {name} .*"],
    ...files.map((directory) => ["/usr/bin/rm", "-f", "--", `${directory}/{name}`]),
    ...[...SPOOLS, "/var/spool/at"].map((directory) =>
      split(`/usr/bin/find ${directory} -mindepth 1 -maxdepth 1 -type f -uid {uid} -delete`),
    ),
    split(`/usr/bin/mkdir -m 0700 -- ${trash}`),
    split(`/usr/bin/mv -T -- ${base}/{name} ${trash}/{name}.{mark}`),
    split(`/usr/bin/ls -A -- ${trash}`),
    split(`/usr/bin/rm -rf --one-file-system -- ${trash}/{name}.{mark}`),
    // Of as many as there are: judge() takes more.
    ...[1, 2, 3, 4, 5, 6].map((count) => split(GETENT).slice(0, count + 2)),
    split("/usr/sbin/sshd -T -C user={name},host=localhost,addr=127.0.0.1,laddr=127.0.0.1,lport=22"),
    [...program, "sweep", "{uid}"],
    [...program, "host", "sessions", "{name}", "{uid}"],
    [...program, "host", "end-session", "{name}", "{uid}", "{session}"],
    [...program, "host", "logins", "{place}"],
    [...program, "host", "refusals", "{name}", "{uid}"],
    [...program, "host", "keep-jobs", "{name}", "{uid}"],
    [...program, "host", "forget-jobs"],
  ];
}

/** As which account is sudo's to say; what is named may be another's home, where the account can do only what it could anyway. */
function ownerTemplates({ base }: Ground): readonly Template[] {
  const home = `${base}/{name}`;
  const files = ["authorized_keys", "authorized_keys2"].map((file) => `${home}/.ssh/${file}`);
  return [
    split(`/usr/bin/chmod u+rwx -- ${home}`),
    split(`/usr/bin/mkdir -m 0700 -- ${home}/.ssh`),
    split(`/usr/bin/chmod 00700 -- ${home}/.ssh`),
    ...files.flatMap((file) => [
      split(`/usr/bin/stat --format=%f/%u/%g/%s%n -- ${home}/.ssh ${file}`),
      split(`/usr/bin/dd if=${file} iflag=nofollow,nonblock,fullblock bs=4194304 count=1 status=none`),
      split(`/usr/bin/install -T -m 0600 -- /dev/stdin ${file}`),
    ]),
    ...["fusermount3", "fusermount"].flatMap((program) => [
      split(`/usr/bin/${program} -u -z -- ${home}`),
      [...split(`/usr/bin/${program} -u -z --`), `${home}/{below}`],
    ]),
  ];
}

export function templatesOf(ground: Ground, as: "root" | "owner"): readonly Template[] {
  return as === "root" ? rootTemplates(ground) : ownerTemplates(ground);
}

/** The command that a template stands for, with these values. */
export function fillIn(template: Template, values: Readonly<Values>): readonly string[] {
  return template.map((piece) => piece.replace(/\{(\w+)\}/g, (_, slot: string) => values[slot] ?? ""));
}

/** Values that the program could fill in. */
export function drawValues(random: Random, ground: Ground, names: readonly string[]): Values {
  const text = (from: string, length: number) => Array.from({ length }, () => random.pick([...from])).join("");
  const name = () =>
    random.onceIn(2) ? random.pick(names) : `ext_${text(`${LETTERS}${DIGITS}`, 1 + random.below(28))}`;
  return {
    name: name(),
    ...Object.fromEntries([2, 3, 4, 5, 6].map((number) => [`name${number}`, name()])),
    uid: String(ground.uids.first + random.below(ground.uids.last - ground.uids.first + 1)),
    day: String(1 + random.below(100_000)),
    mark: text(HEX, 16),
    below: random.pick(["mnt", "a b", "x/y", "-u", "über", "*"]),
    session: text(DIGITS, 8 + random.below(15)),
    place: text(HEX, 2 * (1 + random.below(40))),
  };
}

/** Whether the program could ask for it. */
export function judge({ as, argv }: Command, ground: Ground): Judgement {
  const [program = "", ...args] = argv;
  const isGetent = isSameProgram("/usr/bin/getent", program);
  const atMostSix = (texts: readonly string[]) => (isGetent ? sixNames(texts) : texts);
  const templates = templatesOf(ground, as === undefined || as === "root" ? "root" : "owner").filter(([path = ""]) =>
    isSameProgram(path, program),
  );
  const fits = (pieces: readonly string[], texts: readonly string[]) => {
    const values: Values = {};
    return (
      pieces.length === texts.length && pieces.every((piece, index) => fit(piece, texts[index] ?? "", values, ground))
    );
  };
  if (templates.some(([, ...pieces]) => fits(pieces, atMostSix(args)))) return "asked";
  const joined = atMostSix(args.join(" ").split(" ")).join(" ");
  return templates.some(([, ...pieces]) => fits([pieces.join(" ")], [joined])) ? "shifted" : "other";
}

/** getent may be asked of any number of names; those after the sixth are left out where they are names. */
function sixNames(texts: readonly string[]): readonly string[] {
  return texts.filter((text, index) => index <= 6 || !isName(text));
}

/** By the bare name of a system's program, which sudo looks for in its own path, or in the same directory by another: /bin is often /usr/bin. */
function isSameProgram(path: string, other: string): boolean {
  if (path === other || (/^\/usr\/s?bin\/[^/]+$/.test(path) && basename(path) === other)) return true;
  if (!other.startsWith("/") || other.endsWith("/") || basename(path) !== basename(other)) return false;
  try {
    return realpathSync(dirname(path)) === realpathSync(dirname(other));
  } catch {
    return false;
  }
}

/** Walks along the piece: its own text has to be there, and each slot takes all characters that it may hold. */
function fit(piece: string, text: string, values: Values, ground: Ground): boolean {
  let at = 0;
  for (const part of piece.split(/(\{\w+\})/)) {
    if (!part.startsWith("{")) {
      if (!text.startsWith(part, at)) return false;
      at += part.length;
      continue;
    }
    const slot = part.slice(1, -1);
    const kind = slot.replace(/\d$/, "");
    const characters = SLOTS[kind];
    let end = at;
    while (end < text.length && (characters === undefined || characters.includes(text[end] ?? ""))) end++;
    const value = text.slice(at, end);
    if (!mayBe(kind, value, ground) || (values[slot] ?? value) !== value) return false;
    values[slot] = value;
    at = end;
  }
  return at === text.length;
}

const NAME = `${LETTERS}${DIGITS}_-`;
/** What a slot may hold; `below` anything. */
const SLOTS: Readonly<Record<string, string | undefined>> = {
  name: NAME,
  uid: DIGITS,
  day: DIGITS,
  mark: HEX,
  session: DIGITS,
  place: HEX,
};

function mayBe(slot: string, value: string, { uids }: Ground): boolean {
  switch (slot) {
    case "name":
      return isName(value);
    case "uid":
      return String(Number(value)) === value && Number(value) >= uids.first && Number(value) <= uids.last;
    case "day":
      return String(Number(value)) === value && Number(value) >= 1 && value.length <= 7;
    case "mark":
      return value.length === 16;
    case "session":
      return value.length >= 8 && value.length <= 22;
    case "place":
      return value.length > 0 && value.length % 2 === 0;
    default:
      return value !== "";
  }
}

function isName(text: string): boolean {
  const isPlain = (character: string | undefined) => `${LETTERS}${DIGITS}`.includes(character ?? " ");
  return (
    text.startsWith("ext_") &&
    text.length >= 5 &&
    text.length <= 32 &&
    [...text].every((character) => NAME.includes(character)) &&
    isPlain(text[4]) &&
    isPlain(text.at(-1))
  );
}
