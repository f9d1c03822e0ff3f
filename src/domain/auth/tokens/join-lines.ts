/** Lines that join hosts. An unused line ends with its token or administrator, because a host that joins stays. */

import { and, eq, inArray } from "drizzle-orm";
import { joinTokens } from "../../../store/schema-fleet.ts";
import type { Operation } from "../../operation/context.ts";
import { nameForPeople } from "../../operation/entry.ts";

/** A token for machines, as its creations name it. */
interface Maker {
  readonly name: string;
  readonly owner: string;
}

/**
 * Voids the administrator's lines, or those that some of their tokens made, and records how many. The caller holds the administrator's row
 * lock, so that none is being made meanwhile.
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
