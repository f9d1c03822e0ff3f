/** A webhook as it was typed. */

import type { AnswerOf } from "../../../api.ts";
import type { AuditAction } from "../../../texts/admin/actions.ts";

export type Webhook = AnswerOf<"GET /webhooks">["items"][number];

/** The values of the form. */
export interface Wanted {
  readonly url: string;
  readonly isAll: boolean;
  readonly chosen: readonly AuditAction[];
}

/** A webhook's values, as the form holds them. */
export function wantedOf({ url, actions }: Pick<Webhook, "url" | "actions">): Wanted {
  return { url, isAll: actions.length === 0, chosen: actions };
}

/** As the service takes it. */
export function bodyOf({ url, isAll, chosen }: Wanted): { readonly url: string; readonly actions: AuditAction[] } {
  return { url: url.trim(), actions: isAll ? [] : [...chosen] };
}

/** The faults that keep it from being sent. */
export function faultsOf({ url, isAll, chosen }: Wanted): { readonly url: boolean; readonly chosen: boolean } {
  return { url: url.trim() === "", chosen: !isAll && chosen.length === 0 };
}
