/** Thousands of simulated agents in processes of their own. */

import { join } from "node:path";
import process from "node:process";

/** What a process of agents is started with. */
export interface Job {
  /** The id of its first host; the others follow. */
  readonly first: number;
  readonly count: number;
  /** The replicas, in turns. */
  readonly origins: readonly string[];
  /** In base64. */
  readonly serviceKey: string;
  /** What all have applied already; "": nothing. */
  readonly cursor: string;
  /** Whether they keep hours: a look each second, as a real agent has. */
  readonly hours?: boolean;
}

export type Command = { readonly n: number } & Order;
type Order =
  | { readonly do: "start"; readonly within: number }
  | { readonly do: "told" | "opened" | "shut" | "cost" | "stop" }
  | { readonly do: "confirmed"; readonly id: number }
  | { readonly do: "hang"; readonly count: number };

export interface Reply {
  readonly of: number;
  readonly times?: readonly number[];
  readonly cpu?: number;
  readonly memory?: number;
  readonly counts?: Readonly<Record<string, number>>;
}

export interface Crowd {
  /** Lets all make their first request, at random within so many milliseconds. */
  start(within: number): Promise<void>;
  /** For each agent that reports, when the service had taken its report of record `id`, in milliseconds since 1970; 0: not yet. */
  confirmed(id: number): Promise<readonly number[]>;
  /** For each agent, when it was last told of a change. */
  told(): Promise<readonly number[]>;
  /** For each agent, when it last opened an account with hours, and shut one. */
  opened(): Promise<readonly number[]>;
  shut(): Promise<readonly number[]>;
  /** So many of each process do nothing from now on. */
  hang(count: number): Promise<void>;
  cost(): Promise<CrowdCost>;
  stop(): Promise<void>;
}

export interface CrowdCost {
  /** Processor time so far, in milliseconds. */
  readonly cpu: number;
  readonly memory: number;
  readonly counts: Readonly<Record<string, number>>;
}

/** Starts `processes` processes that share the agents. */
export async function gatherCrowd(job: Job, processes: number): Promise<Crowd> {
  const each = Math.ceil(job.count / processes);
  const members = await Promise.all(
    Array.from({ length: processes }, (_, index) =>
      openMember({ ...job, first: job.first + index * each, count: Math.min(each, job.count - index * each) }),
    ),
  );
  const ask = (order: Order) => Promise.all(members.map((member) => member.ask(order)));
  const times = async (order: Order) => (await ask(order)).flatMap((reply) => reply.times ?? []);
  return {
    start: async (within) => void (await ask({ do: "start", within })),
    told: () => times({ do: "told" }),
    opened: () => times({ do: "opened" }),
    shut: () => times({ do: "shut" }),
    confirmed: (id) => times({ do: "confirmed", id }),
    hang: async (count) => void (await ask({ do: "hang", count: Math.round(count / processes) })),
    cost: async () => {
      const replies = await ask({ do: "cost" });
      const sum: Record<string, number> = {};
      for (const { counts = {} } of replies) {
        for (const [name, count] of Object.entries(counts)) sum[name] = (sum[name] ?? 0) + count;
      }
      return {
        cpu: replies.reduce((total, { cpu = 0 }) => total + cpu, 0),
        memory: replies.reduce((total, { memory = 0 }) => total + memory, 0),
        counts: sum,
      };
    },
    stop: async () => {
      await ask({ do: "stop" });
      await Promise.all(members.map((member) => member.ended));
    },
  };
}

async function openMember(job: Job) {
  const open = new Map<number, (reply: Reply) => void>();
  let n = 0;
  const isReady = new Promise<Reply>((resolve) => open.set(0, resolve));
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "agents.ts"), JSON.stringify(job)], {
    stdio: ["ignore", "inherit", "inherit"],
    ipc: (reply: Reply) => open.get(reply.of)?.(reply),
  });
  await isReady;
  return {
    ask: (order: Order) =>
      new Promise<Reply>((resolve) => {
        open.set(++n, resolve);
        child.send({ ...order, n } satisfies Command);
      }),
    ended: child.exited,
  };
}
