/** The head of the audit log: number and seal of the newest record. A copy kept elsewhere proves that nothing was cut off at the end. */

import { UamError } from "../../shared/errors.ts";
import type { Database, Transaction } from "../../store/client.ts";
import { auditHead as heads } from "../../store/schema-audit.ts";
import type { Services } from "../operation/context.ts";
import { hex } from "./seal.ts";

export interface AuditHead {
  readonly id: number;
  /** Seal of the record, 64 hexadecimal digits; "" before the first. */
  readonly seal: string;
}

/** The head as stored now. */
export function auditHead({ db }: Pick<Services, "db">): Promise<AuditHead> {
  return readHead(db);
}

/** The head as a transaction sees it. */
export async function readHead(db: Database | Transaction): Promise<AuditHead> {
  const [row] = await db.select().from(heads).prepare("audit_head").execute();
  return row === undefined ? { id: 0, seal: "" } : { id: row.id, seal: hex(row.mac) };
}

/** The head in the form that `uam audit verify --head` accepts, `NUMBER:SEAL`. */
export function describeHead(head: AuditHead): string {
  return `${head.id}:${head.seal}`;
}

/** The head that `text` describes. Throws `invalid`. */
export function parseHead(text: string): AuditHead {
  const match = /^(\d{1,15}):([0-9a-f]{64})$/i.exec(text.trim());
  if (match === null) {
    throw new UamError(
      "invalid",
      "A head is a record number, a colon and 64 hexadecimal digits, as the service logs it",
    );
  }
  return { id: Number(match[1]), seal: String(match[2]).toLowerCase() };
}

/**
 * Returns a function that writes the head to the service's log, unless it was the last one written; call it at the
 * start and every hour. An attacker with control of the database alone cannot take back the heads in the service's log.
 */
export function createHeadReporter(services: Pick<Services, "db" | "log">): () => Promise<void> {
  let last = "";
  return async () => {
    const head = await auditHead(services);
    const text = describeHead(head);
    if (text === last || head.id === 0) return;
    services.log.info("head of the audit log", { head: text });
    last = text;
  };
}
