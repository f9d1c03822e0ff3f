/** External users who take turns at changing their keys: the service lets each of them make 60 changes a minute. */

import type { Service } from "../support/service.ts";

/** Changes that one of them makes at most, so that a run that takes less than a minute is not limited. */
const EACH = 45;

export interface Taker {
  readonly id: number;
  readonly cookie: string;
}

/** How many users it takes to make so many changes, however fast. */
export function takersFor(changes: number): number {
  return Math.max(1, Math.ceil(changes / EACH));
}

/** Makes that many users, named after the first, and logs them in. */
export async function makeTakers(service: Service, admin: string, name: string, count: number): Promise<Taker[]> {
  const takers: Taker[] = [];
  for (let each = 0; each < count; each++) {
    const username = each === 0 ? name : `${name}-${each}`;
    const made = await service.call("POST", "/users", admin, { username, email: "b@example.org" });
    if (made.status !== 201) throw new Error(`the user was not made: ${JSON.stringify(made.body)}`);
    const code = service.run(["otp", username]).stdout.trim();
    const { cookie } = await service.call("POST", "/auth/otp/login", "", { username, code });
    takers.push({ id: made.body.data.id, cookie });
  }
  return takers;
}

/** Whose turn the next change is: each makes as many in a row as they may. */
export function turnsOf<T>(takers: readonly T[]): () => T {
  let change = 0;
  return () => {
    const taker = takers[Math.floor(change++ / EACH) % takers.length];
    if (taker === undefined) throw new Error("nobody takes turns");
    return taker;
  };
}

/** Deletes them. */
export async function removeTakers(service: Service, admin: string, takers: readonly Taker[]): Promise<void> {
  for (const { id } of takers) await service.call("DELETE", `/users/${id}`, admin);
}
