/** Requests of a session that were refused for their content before any operation began: they are recorded too. */

import { findUser } from "../../../domain/accounts/find-user.ts";
import { findAdminById } from "../../../domain/auth/find-administrator.ts";
import type { Principal } from "../../../domain/auth/sessions/sessions.ts";
import { findKeyOwner } from "../../../domain/keys/keys.ts";
import { audited } from "../../../domain/operation/audited.ts";
import type { Context, Services } from "../../../domain/operation/context.ts";
import type { AuditEntry } from "../../../domain/operation/entry.ts";
import { UamError } from "../../../shared/errors.ts";
import type { AuditAction } from "../../../shared/product/audit-actions.ts";
import { contextOf, infoOf, isPreview, sessionOf } from "./request.ts";

const accepted = new WeakSet<Request>();

/** Says that a request's content was accepted: its operation records what happens from here on. */
export function acceptContent(request: Request): void {
  accepted.add(request);
}

/**
 * Records the refusal that `response` is, if it is one for the request's content: a body that cannot be read, or is not of
 * the right shape. Not one for an invalid path id: then it is unknown what the request is about. Throws `internal`
 * where it cannot be recorded.
 */
export async function recordRefusal(services: Services, request: Request, response: Response): Promise<void> {
  if (response.status !== 400 || accepted.has(request)) return;
  const { entry: { records: action } = {}, route } = infoOf(request);
  const session = action === undefined ? undefined : await sessionOf(request);
  if (action === undefined || session === undefined) return;
  const { pathname, searchParams } = new URL(request.url);
  const id = idIn(pathname, route);
  if (id === "invalid" || isPreview({ preview: searchParams.get("preview") ?? undefined })) return;
  const context = contextOf(services, request, session.principal);
  const entry = await entryOf(context, { action, id, principal: session.principal });
  const { error } = (await response.clone().json()) as { readonly error: string };
  const refusal = new UamError("invalid", error);
  await audited(context, entry, async () => {
    throw refusal;
  }).catch((thrown: unknown) => {
    if (thrown !== refusal) throw thrown;
  });
}

/** The digits that stand for `:id` in the path of a request; undefined where its route has no id. */
function idIn(path: string, route: string): string | "invalid" | undefined {
  const at = route.split("/").indexOf(":id");
  if (at < 0) return undefined;
  const given = path.split("/")[at] ?? "";
  return /^\d+$/.test(given) ? given : "invalid";
}

interface Refused {
  readonly action: AuditAction;
  /** As in the path: digits. */
  readonly id: string | undefined;
  readonly principal: Principal;
}

async function entryOf({ autocommit }: Context, { action, id, principal }: Refused): Promise<AuditEntry> {
  // One too large for the database becomes 0, which nothing has.
  const number = Number.isSafeInteger(Number(id)) ? Number(id) : 0;
  // As in the operation's own records: the number of a removed person is not an administrator's.
  if (action === "admin.readmit") return { action };
  if (action === "approval.review") return { action, detail: { application: number } };
  if (action === "auth.passkey_rename" || action === "auth.passkey_remove")
    return { action, detail: { username: principal.username, passkey: number } };
  if (action.startsWith("auth.")) return { action, detail: { username: principal.username } };
  const own = { resourceId: String(principal.id), subjectId: principal.id };
  if (action === "extension.request") return { action, ...own, detail: { username: principal.username } };
  const about = id === undefined ? { action } : { action, resourceId: String(number) };
  if (principal.userType === "user") {
    const owner = id === undefined ? undefined : await findKeyOwner(autocommit, number);
    return { ...about, subjectId: owner ?? principal.id, detail: { username: principal.username } };
  }
  if (action === "admin.update") {
    const admin = await findAdminById(autocommit, number);
    return admin === undefined ? about : { ...about, detail: { username: admin.username } };
  }
  if (!action.startsWith("user.")) return about;
  const user = id === undefined ? undefined : await findUser(autocommit, number);
  return user === undefined ? about : { ...about, subjectId: user.id, detail: { username: user.username } };
}
