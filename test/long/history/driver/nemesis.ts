/** What befalls hosts and the service, drawn at random. Each blow is a deed of the history, and is made good again. */

import type { Random } from "../../closings/random.ts";
import type { Deed } from "../format.ts";
import type { TestHost } from "./hosts.ts";
import type { Outcome, Recorder } from "./record.ts";
import type { Way } from "./wire.ts";

export interface Nemesis {
  /** One blow, and as long as it takes. */
  strike(): Promise<void>;
  /** Everything that was begun is made good. */
  heal(): Promise<void>;
}

export interface NemesisParts {
  readonly recorder: Recorder;
  readonly random: Random;
  readonly hosts: readonly TestHost[];
  /** What befalls the service, and how often of 100 blows. */
  readonly service: readonly { readonly often: number; strike(): Promise<void> }[];
  /** Milliseconds that a cut or a stop lasts at most. */
  readonly longest: number;
}

const OK: Outcome = { e: "ok" };
const WAYS: readonly Way[] = ["both", "requests", "answers"];

export function createNemesis({ recorder, random, hosts, service, longest }: NemesisParts): Nemesis {
  /** What is still to be made good, by host and kind. */
  const open = new Map<string, () => Promise<void>>();
  const process = "nemesis";

  const did = (deed: Deed, act: () => Promise<void> | void) =>
    recorder.during(process, deed, async () => {
      await act();
      return OK;
    });
  /** Until somebody draws its end, or all is healed. */
  async function lasting(name: string, begin: () => Promise<unknown>, end: () => Promise<unknown>): Promise<void> {
    if (open.has(name)) return;
    await begin();
    const until = performance.now() + random.below(longest);
    open.set(name, async () => {
      open.delete(name);
      await end();
    });
    due.push({ name, until });
  }
  const due: { readonly name: string; readonly until: number }[] = [];
  async function endDue(): Promise<void> {
    for (const each of due.filter(({ until }) => until < performance.now())) {
      due.splice(due.indexOf(each), 1);
      await open.get(each.name)?.();
    }
  }

  const blows: readonly { readonly often: number; strike(host: TestHost): Promise<unknown> }[] = [
    {
      often: 25,
      strike: (host) =>
        did({ do: "kill", host: host.name }, async () => {
          await host.kill();
          host.start();
        }),
    },
    {
      often: 8,
      strike: (host) =>
        did({ do: "boot", host: host.name }, async () => {
          await host.kill();
          host.emptyRun();
          host.start();
        }),
    },
    {
      often: 22,
      strike: (host) =>
        lasting(
          `cut ${host.name}`,
          () =>
            did({ do: "cut", host: host.name }, () => {
              host.wire.way = random.pick(WAYS);
            }),
          () =>
            did({ do: "heal", host: host.name }, () => {
              host.wire.way = "open";
            }),
        ),
    },
    {
      often: 6,
      strike: async (host) => {
        if (open.has(`cut ${host.name}`)) return;
        const set = (way: Way) => () => {
          host.wire.way = way;
        };
        // An answer that comes late, and nothing after it: a lease is as old as the question.
        await did({ do: "cut", host: host.name }, set("late"));
        await Bun.sleep(4500 + random.below(2500));
        await did({ do: "heal", host: host.name }, async () => {
          set("open")();
          await Bun.sleep(50);
        });
        await lasting(
          `cut ${host.name}`,
          () => did({ do: "cut", host: host.name }, set("both")),
          () => did({ do: "heal", host: host.name }, set("open")),
        );
      },
    },
    {
      often: 12,
      strike: (host) =>
        // A new agent would not be stopped: nothing kills this one meanwhile.
        lasting(
          `stop ${host.name}`,
          () => did({ do: "stop", host: host.name }, () => host.signal("SIGSTOP")),
          () => did({ do: "go", host: host.name }, () => host.signal("SIGCONT")),
        ),
    },
    {
      often: 12,
      strike: (host) => {
        const set = (off: number) => did({ do: "clock", host: host.name, off }, () => host.setClock(off));
        const off = random.pick([-86_400_000, -300_000, -45_000, -10_000, 10_000, 45_000, 300_000, 86_400_000]);
        return lasting(
          `clock ${host.name}`,
          () => set(off),
          () => set(0),
        );
      },
    },
    {
      often: 6,
      strike: (host) =>
        lasting(
          `full ${host.name}`,
          () => did({ do: "full", host: host.name }, () => host.fillDisk()),
          () => did({ do: "room", host: host.name }, () => host.emptyDisk()),
        ),
    },
    ...service,
  ];
  const all = blows.reduce((sum, { often }) => sum + often, 0);

  return {
    async strike() {
      await endDue();
      let drawn = random.below(all);
      const blow = blows.find(({ often }) => {
        drawn -= often;
        return drawn < 0;
      });
      const host = random.pick(hosts);
      const isStopped = open.has(`stop ${host.name}`);
      if (!isStopped) await blow?.strike(host);
    },
    async heal() {
      for (const end of [...open.values()]) await end();
      due.length = 0;
    },
  };
}
