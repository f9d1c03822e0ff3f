/** A user's sponsor is replaced: by an address of the user's own, or with their company. */

import type { UserRow } from "../../store/schema.ts";
import { companyOf } from "../accounts/company-limits.ts";
import type { Operation } from "../operation/context.ts";
import { dropQuestions } from "./questions.ts";
import { isOwn, parseSponsor, requireSponsor, sponsorOf } from "./sponsor-email.ts";
import { tellSponsor } from "./telling.ts";

/** What a change of a user says about their sponsor. */
type Change = Partial<Pick<UserRow, "sponsorEmail" | "email" | "companyId">>;

/**
 * The sponsor's address of a change, for the user's row. Throws `invalid` for one that the user cannot have, also if only the user's own address
 * changes, and `conflict` if the user would have none and needs one. Who had none before can be changed otherwise.
 */
export async function newSponsor(
  op: Pick<Operation, "tx" | "context">,
  user: UserRow,
  change: Change,
): Promise<Pick<Change, "sponsorEmail">> {
  const { sponsorEmail, email = user.email } = change;
  const { sponsor: policy } = op.context.policy;
  const own = sponsorEmail === undefined ? user.sponsorEmail : parseSponsor(policy, { sponsorEmail, email });
  if (own !== "" && change.email !== undefined && isOwn(email, own)) parseSponsor(policy, { sponsorEmail: own, email });
  const then = { ...user, ...change, email, sponsorEmail: own };
  if (concerns(change)) {
    const after = sponsorOf(then, await companyOf(op.tx, then));
    const before = sponsorOf(user, await companyOf(op.tx, user));
    if (sponsorEmail !== undefined || before !== "") requireSponsor(policy, after);
  }
  return sponsorEmail === undefined ? {} : { sponsorEmail: own };
}

/** Once a user is stored: who answers for them now is told, and who did before can no longer end their access. */
export async function followSponsor(op: Operation, before: UserRow, after: UserRow): Promise<void> {
  const isSame = before.sponsorEmail === after.sponsorEmail && before.companyId === after.companyId;
  if (isSame && before.email === after.email) return;
  const [old, fresh] = [
    sponsorOf(before, await companyOf(op.tx, before)),
    sponsorOf(after, await companyOf(op.tx, after)),
  ];
  if (old === fresh) return;
  await dropQuestions(op.tx, old, [before.id]);
  await tellSponsor(op, fresh, [after]);
}

function concerns({ sponsorEmail, email, companyId }: Change): boolean {
  return sponsorEmail !== undefined || email !== undefined || companyId !== undefined;
}
