/** The line that joins a host: where the service is, a token that is used once, and by what the agent knows the service. */

import { randomBytes } from "node:crypto";
import { eq, lte } from "drizzle-orm";
import { MINUTE, shift } from "../../shared/clock.ts";
import { UamError } from "../../shared/errors.ts";
import { parseHostName } from "../../shared/host-name.ts";
import { formatTimestamp } from "../../shared/timestamp.ts";
import { hosts, joinTokens } from "../../store/schema-fleet.ts";
import { hashToken } from "../auth/sessions.ts";
import { audited } from "../operation/audited.ts";
import type { Context, Services } from "../operation/context.ts";
import { nameForPeople } from "../operation/entry.ts";
import { requireGroup } from "./find.ts";
import { fleetSecrets } from "./fleet-key.ts";

/** How long a token can be used. */
export const JOIN_PERIOD = 30 * MINUTE;
export const JOIN_PREFIX = "uamj_";

export interface NewJoin {
  /** What the host is to be called; without it, the agent says. */
  readonly name?: string | undefined;
  /** The name of the group that it joins; without it, none. */
  readonly group?: string | undefined;
}

export interface JoinLine {
  /** What `uam agent join` takes: address, token and fingerprint, with spaces between them. */
  readonly line: string;
  readonly expiresAt: Date;
}

/**
 * Makes a token for one host; it is stored as a hash, so that this is the only time that it is there. Throws `invalid`, `not_found` for the
 * group, and `conflict` for a name that a host has.
 */
export async function createJoinLine(context: Context, { name = "", group }: NewJoin): Promise<JoinLine> {
  const detail = { ...(name === "" ? {} : { name }), ...(group === undefined ? {} : { group }) };
  return await audited(context, { action: "host_token.create", detail }, async (op) => {
    const { clock, policy, seal, actor } = context;
    const wanted = name === "" ? "" : parseHostName("host", name);
    const joined = group === undefined ? undefined : await requireGroup(op.tx, group);
    const [taken] = await op.tx.select({ id: hosts.id }).from(hosts).where(eq(hosts.name, wanted));
    if (taken !== undefined) {
      const sentence = `There is a host named ${wanted}; retire it first, or leave the name out`;
      throw new UamError("conflict", sentence, { reason: "host.taken" });
    }
    const token = JOIN_PREFIX + randomBytes(32).toString("base64url");
    const expiresAt = shift(clock.now(), JOIN_PERIOD);
    await op.tx.insert(joinTokens).values({
      ...{ tokenHash: hashToken(token), name: wanted, groupId: joined?.id ?? null },
      ...{ createdBy: nameForPeople(actor), expiresAt },
    });
    op.record({ detail: { expires_at: formatTimestamp(expiresAt) } });
    return { line: `${policy.site.baseUrl} ${token} ${fleetSecrets(seal).fingerprint}`, expiresAt };
  });
}

/** Removes tokens that have ended. */
export async function purgeJoinTokens({ db, clock }: Pick<Services, "db" | "clock">): Promise<void> {
  await db.delete(joinTokens).where(lte(joinTokens.expiresAt, clock.now()));
}
