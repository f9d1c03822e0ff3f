/** Administrators who make and change users without a pause, and remember what they were told. */

import type { Service } from "../../support/service.ts";

export interface Load {
  /** Names of users whose creation was acknowledged. */
  readonly made: readonly string[];
  /** Refusals and lost connections, as text, with how often. */
  readonly failures: ReadonlyMap<string, number>;
  /** The longest time without an answer that was a success, in milliseconds, since this was last asked. */
  longestGap(): number;
  /** Resolves with the next success that was asked for after this call; rejects after `within` milliseconds. */
  nextSuccess(within: number): Promise<number>;
  stop(): Promise<void>;
}

const WRITERS = 3;
let prefix = 0;

export function startLoad(service: Service, admin: string): Load {
  const letter = `w${++prefix}`;
  const made: string[] = [];
  const failures = new Map<string, number>();
  let isStopping = false;
  let last = performance.now();
  let gap = 0;
  let latestBegun = 0;
  async function call(method: string, path: string, body?: unknown): Promise<number> {
    const begun = performance.now();
    try {
      const answer = await service.call(method, path, admin, body);
      if (answer.status < 300) {
        gap = Math.max(gap, performance.now() - last);
        last = performance.now();
        latestBegun = Math.max(latestBegun, begun);
        return answer.body.data.id ?? 1;
      }
      failed(`${answer.status} ${String(answer.body?.error ?? "").slice(0, 150)}`);
    } catch (error) {
      failed(`no answer: ${String(error).slice(0, 100)}`);
    }
    await Bun.sleep(200);
    return 0;
  }
  const failed = (text: string) => failures.set(text, (failures.get(text) ?? 0) + 1);
  const working = Array.from({ length: WRITERS }, async (_, writer) => {
    for (let count = 0; !isStopping; count++) {
      const username = `${letter}x${writer}x${count}`;
      const id = await call("POST", "/users", { username, email: `${username}@example.org` });
      if (id === 0) continue;
      made.push(username);
      await call("PATCH", `/users/${id}`, { purpose: `load ${count}` });
      await call("GET", `/users/${id}`);
      if (count % 3 === 0) await call("POST", `/users/${id}/disable`);
      await Bun.sleep(50);
    }
  });
  return {
    made,
    failures,
    longestGap: () => {
      const longest = Math.max(gap, performance.now() - last);
      gap = 0;
      last = performance.now();
      return longest;
    },
    nextSuccess: async (within) => {
      const asked = performance.now();
      while (latestBegun < asked) {
        if (performance.now() - asked > within) throw new Error(`nothing succeeded within ${within / 1000} s`);
        await Bun.sleep(50);
      }
      return performance.now() - asked;
    },
    stop: async () => {
      isStopping = true;
      await Promise.all(working);
    },
  };
}
