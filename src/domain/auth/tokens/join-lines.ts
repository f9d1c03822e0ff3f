/** Lines that join hosts: one that is not used yet ends with what made it, for a host that joins stays. */

import { and, eq, inArray } from "drizzle-orm";
import { joinTokens } from "../../../store/schema-fleet.ts";
import type { Operation } from "../../operation/context.ts";
import { nameForPeople } from "../../operation/entry.ts";

/** A token for machines, as far as what it made is known by it. */
interface Maker {
  readonly name: string;
  readonly owner: string;
}

/**
 * Voids the administrator's lines, or those that some of their tokens made, and says in the record how many. The administrator's row has to be
 * locked, so that none is being made meanwhile.
 */
export async function voidJoinLines({ tx, record }: Operation, adminId: number, makers?: readonly Maker[]) {
  const names = makers?.map(({ name, owner }) => nameForPeople({ type: "token", name, owner, ip: "" }));
  const isTheirs = names === undefined ? undefined : inArray(joinTokens.createdBy, names);
  const voided = await tx
    .delete(joinTokens)
    .where(and(eq(joinTokens.madeBy, adminId), isTheirs))
    .returning({ hash: joinTokens.tokenHash });
  if (voided.length > 0) record({ detail: { join_tokens: voided.length } });
}
