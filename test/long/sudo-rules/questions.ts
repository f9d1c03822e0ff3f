/** Asking sudo, as the service's user, what it would run. */

import { spawn } from "node:child_process";
import { createRandom } from "../closings/random.ts";
import { type Ground, judge } from "./grammar.ts";
import { drawTry, type People, type Try } from "./mutations.ts";

/** How many questions sudo is asked at a time. */
const AT_ONCE = 4;

export interface Answers {
  readonly tries: number;
  /** Commands that the program asks for as they are, and what of these sudo allowed. */
  readonly asked: number;
  /** Allowed, and not to be told from one of the program's where arguments are joined by blanks. */
  readonly shifted: readonly Try[];
  /** Each a sentence: allowed but not the program's, or the program's but refused. */
  readonly faults: readonly string[];
}

/** Asks sudo about `count` tries. `user` is the service's. */
export async function askMany(
  user: string,
  { ground, people }: { readonly ground: Ground; readonly people: People },
  { seed, count }: { readonly seed: number; readonly count: number },
): Promise<Answers> {
  const random = createRandom(seed);
  const tries = Array.from({ length: count }, () => drawTry(random, ground, people));
  const faults: string[] = [];
  const shifted: Try[] = [];
  let asked = 0;
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let it = tries[next++]; it !== undefined; it = tries[next++]) {
      const isAllowed = await allows(user, it);
      const judgement = it.options.length > 0 && !isHarmless(it) ? "other" : judgeAs(it, ground, people);
      if (judgement === "asked") asked++;
      if (isAllowed && judgement === "shifted") shifted.push(it);
      if (isAllowed && judgement === "other") faults.push(`allowed (${it.how}): ${show(it)}`);
      if (!isAllowed && judgement === "asked" && it.options.length === 0) faults.push(`refused: ${show(it)}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  return { tries: count, asked, shifted, faults };
}

/** Whether sudo would run it; nothing is run. */
export async function allows(user: string, { as, argv, options }: Try): Promise<boolean> {
  const target = as === undefined ? [] : ["-u", as];
  return (await statusOf(user, ["sudo", "-n", ...options, "-l", ...target, "--", ...argv])) === 0;
}

function statusOf(user: string, argv: readonly string[]): Promise<number | null> {
  const child = spawn("/usr/bin/setpriv", ["--reuid", user, "--regid", user, "--init-groups", "--", ...argv], {
    cwd: "/",
    env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" },
    stdio: "ignore",
  });
  return new Promise((done, reject) => {
    child.on("error", reject);
    child.on("close", done);
  });
}

/** The account may be named by its uid, too. Commands of root's run as nobody else, and those of accounts not as root. */
function judgeAs(it: Try, ground: Ground, { account, uid }: People): ReturnType<typeof judge> {
  const as = it.as === "#0" ? "root" : it.as === `#${uid}` ? account : it.as;
  if (as !== undefined && as !== "root" && as !== account) return "other";
  return judge({ ...it, as }, ground);
}

/**
 * Options that change neither what is run nor as whom: they make no other command of it. SELinux itself judges its roles and types.
 * Root's own group is the one that root has in any case, if it is root that is asked for: without -u it would be the service's user.
 */
function isHarmless({ options: [option = "", value = ""], as = "" }: Try): boolean {
  if (option === "-g") return ["root", "#0"].includes(value) && ["root", "#0"].includes(as);
  return ["-H", "-A", "-b", "-P", "-k", "-p", "-T", "-r", "-t"].includes(option);
}

export function show({ as, argv, options }: Try): string {
  return JSON.stringify([...options, ...(as === undefined ? [] : ["-u", as]), "--", ...argv]);
}
