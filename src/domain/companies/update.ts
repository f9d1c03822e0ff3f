/** Changing a company, and what that would take from its users. */

import { setTimeout as sleep } from "node:timers/promises";
import { and, eq, ne } from "drizzle-orm";
import { UamError } from "../../shared/errors.ts";
import { counted, namedUpTo } from "../../shared/text/counted.ts";
import { formatTimestamp } from "../../shared/time/timestamp.ts";
import type { Database, Transaction } from "../../store/client.ts";
import { type CompanyRow, companies } from "../../store/schema-companies.ts";
import { latestEndOf } from "../accounts/company-limits.ts";
import { audited } from "../operation/audited.ts";
import type { Context } from "../operation/context.ts";
import { onward } from "../operation/permission.ts";
import {
  type Company,
  entryOf,
  getCompany,
  nameTaken,
  readCompany,
  refuseTaken,
  requireCompany,
  requireLocked,
} from "./companies.ts";
import { type CompanyChanges, type CompanyFields, changedDetail, lockGroups, parseCompany } from "./company-fields.ts";
import { hoursEffects, shutByHours } from "./hours.ts";
import { findLosses, type Loss } from "./losses.ts";
import { narrowUsers } from "./narrowing.ts";
import type { CompanyPreview } from "./preview.ts";

/** Names in a sentence. */
const MOST = 20;

/**
 * Changes only the supplied fields. What users have beyond the new limits is taken away, and hours are followed; this returns once that is done, or after `patience`
 * milliseconds: the rest goes on. Throws `not_found`, `invalid`, and `conflict` for a name that is taken.
 */
export async function updateCompany(
  context: Context,
  id: number,
  changes: CompanyChanges,
  patience = Number.POSITIVE_INFINITY,
): Promise<Company> {
  const isNarrower = await audited(context, entryOf("company.update", id), async (op) => {
    const before = await requireLocked(op.tx, id);
    op.about({ detail: { name: before.name } });
    requireSomething(changes);
    await lockGroups(op.tx, changes);
    const { row: fields, groups } = await parseCompany(context, op.tx, changes);
    const { actor, clock } = op.context;
    const { losses, lastEnd } = await lossesBy(op.tx, { before, fields, now: clock.now() });
    const narrowing = {
      narrowingSince: before.narrowingSince ?? clock.now(),
      narrowingEnd: lastEnd,
      ...{ narrowingByType: actor.type, narrowingBy: actor.name, narrowingByOwner: actor.owner ?? "" },
    };
    const old = await readCompany(op.tx, id);
    // One that is under way goes on with the limits as they are now.
    const goesOn = before.narrowingSince === null ? {} : { narrowingEnd: lastEnd };
    const isCarried = movesHours(before, fields);
    const set = { ...fields, ...(losses.length > 0 || isCarried ? narrowing : goesOn), updatedAt: clock.now() };
    const name = fields.name ?? before.name;
    await refuseTaken(name, op.tx.update(companies).set(set).where(eq(companies.id, id)).returning());
    op.record({ detail: changedDetail({ before, fields, groups, oldGroups: old.hostGroups }) });
    if (losses.length > 0) op.record({ detail: { narrowed_users: losses.length } });
    return losses.length > 0 || isCarried;
  });
  if (isNarrower) {
    const work = narrowUsers(onward(context), id);
    await (Number.isFinite(patience) ? Promise.race([work, sleep(patience)]) : work);
  }
  return await getCompany(context, id);
}

/** Previews `updateCompany`. */
export async function previewUpdate(
  context: Pick<Context, "db" | "clock" | "policy" | "host">,
  id: number,
  changes: CompanyChanges,
): Promise<CompanyPreview> {
  const { db, clock } = context;
  return await db.transaction(
    async (tx) => {
      const before = await requireCompany(tx, id);
      requireSomething(changes);
      const { row: fields } = await parseCompany(context, tx, changes);
      const taken = and(eq(companies.name, fields.name ?? before.name), ne(companies.id, id));
      if ((await tx.$count(companies, taken)) > 0) throw nameTaken(fields.name ?? before.name);
      const now = clock.now();
      const { losses } = await lossesBy(tx, { before, fields, now });
      const after = { ...before, ...fields };
      const shut = movesHours(before, fields) ? await shutByHours(tx, after, now) : undefined;
      const hours = shut === undefined ? [] : await hoursEffects(context, after, shut);
      const concerned = new Set([...losses, ...(shut ?? [])].map((user) => user.id));
      const others = losses.length === 0 && hours.length > 0 ? [] : effectsOf(after.name, losses);
      return { effects: [...hours, ...others], host: [], users: concerned.size };
    },
    { isolationLevel: "repeatable read", accessMode: "read only" },
  );
}

function movesHours(before: CompanyRow, { hours }: CompanyFields): boolean {
  return hours !== undefined && hours !== before.hours;
}

interface Change {
  readonly before: CompanyRow;
  readonly fields: CompanyFields;
  readonly now: Date;
}

/** What users lose by limits that change, or by an earlier change that is not done yet. Throws `invalid` for an end that has passed already. */
async function lossesBy(db: Database | Transaction, { before, fields, now }: Change) {
  const company = { ...before, ...fields };
  const movesEnds = fields.contractEnd !== undefined || fields.maxTtlDays !== undefined;
  // A limit that stays takes nothing away, even if the clock was set back since.
  const { contractEnd = null, maxTtlDays = null } = before.narrowingSince === null ? fields : company;
  const lastEnd = movesEnds ? (latestEndOf({ contractEnd, maxTtlDays }, now) ?? null) : before.narrowingEnd;
  const isLimited = movesEnds || fields.sourceNetworks !== undefined || fields.hostGroups !== undefined;
  const losses = isLimited ? await findLosses(db, { company, lastEnd, now }) : [];
  if (lastEnd !== null && lastEnd <= now && losses.some(({ end }) => end !== undefined)) {
    const sentence = `The contract of ${before.name} must end in the future as long as users have access beyond it; to end that now, end the company`;
    throw new UamError("invalid", sentence, { reason: "company.limit" });
  }
  return { losses, lastEnd };
}

function effectsOf(name: string, losses: readonly Loss[]): readonly string[] {
  const sentence = (who: readonly Loss[], says: string) =>
    who.length === 0
      ? []
      : [
          `${counted(who.length, "user")} of ${name}: ${says}: ${namedUpTo(
            MOST,
            who.map(({ username }) => username),
          )}.`,
        ];
  const end = losses.find((loss) => loss.end !== undefined)?.end;
  const effects = [
    ...sentence(
      losses.filter(({ disabledFor }) => disabledFor === "networks"),
      "no network is left, so they are disabled",
    ),
    ...sentence(
      losses.filter(({ disabledFor }) => disabledFor === "hosts"),
      "no host is left, so they are disabled",
    ),
    ...(end === undefined
      ? []
      : sentence(
          losses.filter((loss) => loss.end !== undefined),
          `access ends earlier, at ${formatTimestamp(end)}`,
        )),
    ...sentence(
      losses.filter(({ networks }) => networks !== undefined),
      "access from fewer networks",
    ),
    ...sentence(
      losses.filter(({ hosts }) => hosts),
      "access to fewer hosts",
    ),
  ];
  return effects.length === 0 ? [`Nobody of ${name} loses access by that.`] : effects;
}

function requireSomething(changes: CompanyChanges): void {
  if (Object.values(changes).some((change) => change !== undefined)) return;
  const fields = "name, contract_end, max_users, max_ttl_days, source_networks, host_groups, hours or sponsor_email";
  throw new UamError("invalid", `Nothing to change: send ${fields}`);
}
