/**
 * What the managers of a company may do: see its people, and end their access. They are external users with a login of their own. That they
 * still are its managers, and active, is checked again where the change is made, as every permission is.
 */

import type { Page, Paged } from "../../shared/product/page.ts";
import { disableOnRecord } from "../accounts/access.ts";
import { lockUserIfStored, requireFound, requireUser, type User } from "../accounts/find-user.ts";
import { auditedClosing } from "../operation/audited.ts";
import type { Context } from "../operation/context.ts";
import { findManaged, notManager } from "../operation/permission.ts";
import { type ListedUser, listUsers } from "../users/list.ts";
import { type Company, getCompany } from "./companies.ts";

/** A manager at work. */
export interface Managing<C> {
  /** With a permission that ends when they are the company's active manager no more. */
  readonly context: C;
  readonly companyId: number;
  readonly manager: User;
}

/** Throws `not_found` for a user who is gone, and `forbidden` for who is no active manager of a company. */
export async function requireManager<C extends Context>(context: C, userId: number): Promise<Managing<C>> {
  const manager = await requireUser(context.db, userId);
  const companyId = await findManaged(context.db, userId, context.clock.now());
  if (companyId === undefined) throw notManager();
  const { permit } = context;
  return {
    companyId,
    manager,
    context: permit === undefined ? context : { ...context, permit: { ...permit, manages: companyId } },
  };
}

/** The manager's company; throws as `requireManager` does. */
export async function getOwnCompany(context: Context, userId: number): Promise<Company> {
  const { companyId } = await requireManager(context, userId);
  return await getCompany(context, companyId);
}

/** One page of the people of the manager's company, by name; throws as `requireManager` does. */
export async function listColleagues(context: Context, userId: number, page: Page): Promise<Paged<ListedUser>> {
  const { companyId } = await requireManager(context, userId);
  return await listUsers(context, { companyId, sort: "username" }, page);
}

/**
 * Ends the access of somebody of the manager's company at once, as disabling does, also where the account on the host is missing or is not
 * ours. Somebody without access stays as they are. Throws as `requireManager` does, `not_found` for people of other companies, and `internal`
 * if a step failed on the host; that is owed.
 */
export async function endColleague(context: Context, managerId: number, userId: number): Promise<User> {
  const managing = await requireManager(context, managerId);
  const entry = { action: "user.disable", resourceId: String(userId), detail: { reason: REASON } } as const;
  return await auditedClosing(managing.context, entry, async (op) => {
    const found = await lockUserIfStored(op.tx, userId);
    const user = requireFound(found?.companyId === managing.companyId ? found : undefined, userId);
    // Not before: others' trails do not say who asked for them.
    op.about({ subjectId: userId, detail: { username: user.username } });
    if (user.disabledAt !== null || user.status === "expired") {
      op.record({ unneeded: true });
      return user;
    }
    return await disableOnRecord(op, user, { reason: REASON });
  });
}

/** In the record, and in the mail to the user. */
const REASON = "ended by a manager of the company";
