/** Writers that call the replicas without a pause and remember what they were told, to be held against what is stored later. */

import type { Replicas } from "./replicas.ts";

export interface Load {
  /** What was answered with success, in the order of the answers. */
  readonly acknowledged: readonly Acknowledged[];
  /** How many answers there were, by status; "none" for a connection that ended without one. */
  readonly answers: ReadonlyMap<string, number>;
  /** The longest time, in milliseconds, for which nobody was told of a success. */
  longestGap(): number;
  /** Ends after the requests under way. */
  stop(): Promise<void>;
}

export interface Acknowledged {
  readonly username: string;
  readonly did: "create" | "disable";
  /** Milliseconds, of the monotonic clock. */
  readonly at: number;
}

/** A client gives up after this long, in milliseconds. */
const PATIENCE = 60_000;

/** Starts them; each makes users and disables every other one, through one replica after the other. */
export function startLoad({ services, token }: Replicas, writers: number, prefix = "w"): Load {
  const acknowledged: Acknowledged[] = [];
  const answers = new Map<string, number>();
  let isStopping = false;
  let turn = 0;

  async function call(method: string, path: string, body?: unknown): Promise<{ status: string; id: number }> {
    const { origin } = services[turn++ % services.length] ?? { origin: "" };
    try {
      const response = await fetch(`${origin}/api/v1${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify(body ?? {}),
        signal: AbortSignal.timeout(PATIENCE),
      });
      const answer = (await response.json()) as { data?: { id?: number }; error?: string };
      return { status: statusOf(response), id: answer.data?.id ?? 0 };
    } catch (error) {
      return { status: error instanceof Error && error.name === "TimeoutError" ? "too late" : "none", id: 0 };
    }
  }
  async function did(what: Omit<Acknowledged, "at">, method: string, path: string, body?: unknown): Promise<number> {
    const { status, id } = await call(method, path, body);
    answers.set(status, (answers.get(status) ?? 0) + 1);
    if (status !== "200" && status !== "201") {
      // As a client would that was told when to come back.
      await Bun.sleep(100);
      return 0;
    }
    acknowledged.push({ ...what, at: performance.now() });
    return id;
  }

  const working = Array.from({ length: writers }, async (_, writer) => {
    for (let count = 0; !isStopping; count++) {
      const username = `${prefix}${writer}-${count}`;
      const user = { username, email: `${username}@example.org` };
      const id = await did({ username, did: "create" }, "POST", "/users", user);
      if (id !== 0 && count % 2 === 0) await did({ username, did: "disable" }, "POST", `/users/${id}/disable`);
    }
  });
  return {
    acknowledged,
    answers,
    longestGap() {
      const times = acknowledged.map(({ at }) => at);
      return times.reduce((longest, at, index) => Math.max(longest, at - (times[index - 1] ?? at)), 0);
    },
    async stop() {
      isStopping = true;
      await Promise.all(working);
    },
  };
}

/** A refusal with its reason. */
function statusOf({ status, headers }: Response): string {
  return status < 400 ? String(status) : `${status} ${headers.get("uam-error") ?? ""}`;
}
