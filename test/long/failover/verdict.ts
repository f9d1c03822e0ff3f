/** Holds what the writers were told against what is stored. */

import type { Acknowledged } from "./load.ts";
import type { Replicas } from "./replicas.ts";

/** Runs SQL on the node that takes changes. */
export type Ask = <Row>(statement: string) => Promise<readonly Row[]>;

export interface Verdict {
  /** Changes that were acknowledged and are not stored, or not recorded. */
  readonly lost: readonly string[];
  /** Users that were recorded as made more than once. */
  readonly doubled: readonly string[];
  /** What `uam audit verify` printed; "" if it found nothing wrong. */
  readonly audit: string;
}

export async function verdict(ask: Ask, { services }: Replicas, told: readonly Acknowledged[]): Promise<Verdict> {
  const users = await ask<{ username: string; disabled: boolean }>(
    "select username, disabled_at is not null as disabled from users",
  );
  const records = await ask<{ action: string; username: string; count: number }>(
    `select action, (detail::jsonb)->>'username' as username, count(*)::int as count from audit
     where result = 'success' and action in ('user.create', 'user.disable') group by 1, 2`,
  );
  const stored = new Map(users.map(({ username, disabled }) => [username, disabled]));
  const recorded = new Map(records.map(({ action, username, count }) => [`${action} ${username}`, count]));
  const lost = told.filter(({ username, did }) => {
    const isStored = did === "create" ? stored.has(username) : stored.get(username) === true;
    return !isStored || !recorded.has(`user.${did} ${username}`);
  });
  const verified = services[0]?.run(["audit", "verify"]);
  return {
    lost: lost.map(({ username, did }) => `${did} ${username}`),
    doubled: [...recorded].filter(([, count]) => count > 1).map(([what]) => what),
    audit: verified?.status === 0 ? "" : `${verified?.stdout}${verified?.stderr}`,
  };
}
