/**
 * A process that does one piece of work on the database of a test and may be killed at a fault point on the way. It is told what over IPC by
 * killed.ts, and asks there for whatever happens on the host, which outlives it.
 */

import process from "node:process";
import { createSeal } from "../../src/domain/audit/seal.ts";
import { endCompany } from "../../src/domain/companies/ending.ts";
import { endHold } from "../../src/domain/lifecycle/heartbeat.ts";
import type { Context, Policy, Services } from "../../src/domain/operation/context.ts";
import { type Answer, answerItems } from "../../src/domain/reviews/answer.ts";
import { closeReview } from "../../src/domain/reviews/close.ts";
import { workOnReviews } from "../../src/domain/reviews/due.ts";
import type { Host } from "../../src/protocol/host.ts";
import { UamError } from "../../src/shared/errors.ts";
import { silentLog } from "../../src/shared/log.ts";
import { type ConnectionOptions, openDatabase } from "../../src/store/client.ts";
import { TEST_KEY } from "./audit-log.ts";
import { createTestClock } from "./clock.ts";

export type Deed =
  | { readonly deed: "end a company"; readonly company: number }
  | { readonly deed: "answer"; readonly review: number; readonly answers: readonly Answer[] }
  | { readonly deed: "the day of a review" }
  | { readonly deed: "close a review"; readonly review: number };

/** What it is to do, and as which part of which service. */
export interface Order {
  readonly deed: Deed;
  readonly connection: ConnectionOptions;
  readonly policy: Omit<Policy, "terms">;
  readonly now: Date;
}

/** What it asks of the host. */
export interface Asked {
  readonly id: number;
  readonly method: string;
  readonly args: readonly unknown[];
}

export interface Told {
  readonly id: number;
  readonly result?: unknown;
  readonly refusal?: string;
}

/** Whoever asks for what a person asks for. */
const ASKER = { type: "admin", name: "asker", ip: "192.0.2.7" } as const;

if (import.meta.main) process.on("message", (message: Order | Told) => void hear(message));

const waiting = new Map<number, (told: Told) => void>();

async function hear(message: Order | Told): Promise<void> {
  if ("id" in message) return waiting.get(message.id)?.(message);
  await carryOut(message);
  process.exit(0);
}

async function carryOut({ deed, connection, policy, now }: Order): Promise<void> {
  const services = {
    db: openDatabase(connection, 6).db,
    autocommit: openDatabase(connection, 1).db,
    host: hostElsewhere(),
    clock: createTestClock(now),
    log: silentLog,
    seal: createSeal(TEST_KEY),
    policy,
    // Nothing here asks for a password or for the terms.
  } as unknown as Services;
  const context: Context = { ...services, actor: ASKER, requestId: "" };
  switch (deed.deed) {
    case "end a company":
      return void (await endCompany(context, deed.company));
    case "answer":
      return await answerItems(context, deed.review, deed.answers);
    case "the day of a review":
      return await workOnReviews(services, await endHold(services));
    case "close a review":
      return void (await closeReview(context, deed.review, "disable"));
  }
}

function hostElsewhere(): Host {
  let asked = 0;
  const ask =
    (method: string) =>
    (...args: readonly unknown[]) =>
      new Promise((resolve, reject) => {
        const id = ++asked;
        waiting.set(id, ({ result, refusal }) =>
          refusal === undefined ? resolve(result) : reject(new UamError("internal", refusal)),
        );
        process.send?.({ id, method, args } satisfies Asked);
      });
  return new Proxy({} as Host, {
    get: (_, name) => (name === "mode" ? "direct" : name === "then" ? undefined : ask(String(name))),
  });
}
