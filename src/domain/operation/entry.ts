/** The content of an operation's audit record. */

import type { AuditAction } from "../../shared/product/audit-actions.ts";

export type ActorType = "admin" | "user" | "cli" | "system" | "anonymous" | "token" | "sponsor";

/** The actor of an operation, as the audit log names it. */
export interface Actor {
  readonly type: ActorType;
  /** Username, name of the operating-system account for `cli`, name of the `token`, address of the `sponsor`, "system", or "anonymous". */
  readonly name: string;
  /** Client address, or "" where there is none. */
  readonly ip: string;
  /** The owner of the token; records have it in their detail. */
  readonly owner?: string;
  /** Which token it is: names may come twice. */
  readonly tokenId?: number;
}

/** Somebody as stored with what they asked for: `owner` is "" for whoever used no token. */
export function storedActor({
  type,
  name,
  owner,
  ip = "",
}: Required<Pick<Actor, "type" | "name" | "owner">> & { readonly ip?: string }): Actor {
  return { type, name, ip, ...(owner === "" ? {} : { owner }) };
}

/** The actor's name in mails for people. */
export function nameForPeople({ name, owner }: Actor): string {
  return owner === undefined ? name : `${name}, a token of ${owner}`;
}

/** The service itself, as an actor. */
export const SYSTEM: Actor = { type: "system", name: "system", ip: "" };

export type AuditDetail = Readonly<Record<string, string | number | boolean | null>>;

/** The facts about an operation before it begins; they are in the records of success and failure. */
export interface AuditEntry {
  readonly action: AuditAction;
  /** Decimal id, or the key of a setting. Empty when a create failed. */
  readonly resourceId?: string;
  readonly detail?: AuditDetail;
  /** The external user who acts or is affected; makes the record part of that user's own trail. */
  readonly subjectId?: number;
}

/** The facts that an operation learned; only the record of its success has them. */
export interface Recording {
  readonly resourceId?: string;
  readonly detail?: AuditDetail;
  readonly subjectId?: number;
  /** The actor that a login identified; a failure stays in the name of the actor who asked. */
  readonly actor?: Actor;
  /** The sentence of a failure that is to be committed all the same: the record says `failed`, with it as `err`. */
  readonly refused?: string;
  /** Somebody else did it first: nothing was changed, and nothing is recorded. */
  readonly unneeded?: true;
}

/** A record that is to be added to the log. */
export interface Recorded {
  readonly entry: AuditEntry;
  readonly result: "success" | "failed";
  /** The actor, if that is not the operation's caller. */
  readonly actor?: Actor;
}
