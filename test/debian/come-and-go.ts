/** People are given access and lose it again, one after the other, whatever happens to the host meanwhile. */

import { join } from "node:path";
import type { Container } from "./container.ts";
import { ask, hasProcesses, knock, knockUntilAnswered, stay, uidOf } from "./from-here.ts";
import { must } from "./shell.ts";
import { say } from "./steps.ts";

interface Visitor {
  readonly id: number;
  readonly name: string;
  readonly key: string;
  readonly keyId: number;
}

/** How access ends. Each throws unless it is said to have ended. */
const ENDS: Readonly<Record<string, (container: Container, visitor: Visitor) => Promise<string>>> = {
  "disabled at the shell": (container, { name }) => container.sh(`uam user disable ${name}`),
  "deleted by the service": (container, { id }) =>
    ask(container, { method: "DELETE", path: `/users/${id}`, jar: ADMIN }),
  "disabled by the service": (container, { id }) =>
    ask(container, { method: "POST", path: `/users/${id}/disable`, jar: ADMIN }),
  "revoked by its owner": (container, { name, keyId }) =>
    ask(container, { method: "DELETE", path: `/me/keys/${keyId}`, jar: name }),
};

const ADMIN = "root-admin";
/** The service goes on each minute with what it owes; seconds. */
const OWED = 180;
/** What has been killed is still seen until init takes it in, which waits for a busy machine; seconds. */
const GONE = 30;

/** Who came, and what is left of them. */
export interface Visits {
  /** The keys that opened an account, all of which were closed again. */
  readonly closed: readonly { readonly user: string; readonly key: string }[];
  /** Those who could not be let in, and why. */
  readonly turnedAway: readonly string[];
  /** Closings that failed at first, and how. */
  readonly owed: readonly string[];
}

/**
 * Lets people come and go until it is over. Giving access may fail; throws if what was said to have ended has not, or if a closing that
 * failed is not made up for.
 */
export async function comeAndGo(container: Container, password: string, isOver: () => boolean): Promise<Visits> {
  await ask(container, { method: "POST", path: "/auth/admin/login", body: { username: ADMIN, password }, jar: ADMIN });
  const visits = { closed: [] as { user: string; key: string }[], turnedAway: [] as string[], owed: [] as string[] };
  const ways = Object.keys(ENDS);
  for (let number = 0; !isOver(); number++) {
    const name = `visitor${number}`;
    const way = ways[number % ways.length] ?? "";
    const visitor = await arrives(container, name).catch((error: unknown) => reason(error));
    if (typeof visitor === "string") {
      visits.turnedAway.push(`${name}: ${visitor}`);
      continue;
    }
    const uid = uidOf(container, name);
    if (uid === undefined) throw new Error(`${name} has no account`);
    visits.owed.push(...(await leaves(container, { visitor, way, uid })));
    visits.closed.push({ user: name, key: visitor.key });
  }
  return visits;
}

/** Prints how many there were, and everything that failed. */
export function report({ closed, turnedAway, owed }: Visits): void {
  say(
    `      ${closed.length} came in and went; ${turnedAway.length} could not be let in; ${owed.length} failures of closings`,
  );
  for (const line of [...turnedAway, ...owed]) say(`      ${line.replaceAll(/\s+/g, " ").slice(0, 600)}`);
}

/** Creates the user, uploads a key in their session, and opens a session in which something runs. Throws where one of it fails. */
async function arrives(container: Container, name: string): Promise<Visitor> {
  const created = await container.sh(`uam user create ${name} --email ${name}@example.org --ttl-days 1 --json`);
  const { id } = JSON.parse(created) as { id: number };
  const code = (await container.sh(`uam otp ${name}`)).trim();
  await ask(container, { method: "POST", path: "/auth/otp/login", body: { username: name, code }, jar: name });
  const key = `${name}-key`;
  const file = join(container.directory, "root", key);
  await must(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", file], 20);
  const body = { name: key, public_key: (await Bun.file(`${file}.pub`).text()).trim() };
  const answer = await ask(container, { method: "POST", path: "/me/keys", body, jar: name });
  const { data } = JSON.parse(answer) as { data: { id: number } };
  const said = await knock(container, name, key);
  if (said !== "admitted") throw new Error(`the key has the answer "${said}"`);
  stay(container, { user: name, key }, "sleep 9100");
  return { id, name, key, keyId: data.id };
}

/** Takes the access away and holds the host against the answer; gives what failed on the way. */
async function leaves(
  container: Container,
  { visitor, way, uid }: { readonly visitor: Visitor; readonly way: string; readonly uid: number },
): Promise<readonly string[]> {
  const { name, key } = visitor;
  const failures: string[] = [];
  const end = performance.now() + OWED * 1000;
  for (;;) {
    const failure = await ENDS[way]?.(container, visitor).then(
      () => undefined,
      (error: unknown) => reason(error),
    );
    if (failure === undefined) break;
    failures.push(`${name}, ${way}: ${failure}`);
    if ((await knock(container, name, key)) === "refused" && !(await hasProcesses(container, uid))) break;
    if (performance.now() > end) throw new Error(`${name} is not ${way}: ${failures.join("\n")}`);
    await Bun.sleep(1000);
  }
  const said = await knockUntilAnswered(container, name, key);
  if (said !== "refused") throw new Error(`${name} was ${way}, and the key has the answer "${said}"`);
  const gone = performance.now() + GONE * 1000;
  while (await hasProcesses(container, uid)) {
    if (performance.now() > gone) throw new Error(`${name} was ${way}, and something of theirs runs`);
    await Bun.sleep(200);
  }
  if (way.startsWith("deleted") && uidOf(container, name) !== undefined)
    throw new Error(`${name} was ${way}, and has an account`);
  return failures;
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
