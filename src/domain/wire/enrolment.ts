/** Joining a host: its agent's own key is bound to a name, by a token that is used once. */

import { Buffer } from "node:buffer";
import { eq, sql } from "drizzle-orm";
import { ed25519Fault } from "../../protocol/ed25519.ts";
import type { Enrolled, Enrolment } from "../../protocol/fleet.ts";
import { keyFingerprint } from "../../protocol/fleet-signature.ts";
import { UamError } from "../../shared/errors.ts";
import { parseHostName } from "../../shared/text/host-name.ts";
import { isDuplicate, type Transaction } from "../../store/client.ts";
import { hostGroupMembers, hostGroups, hosts, uidCounter } from "../../store/schema-fleet.ts";
import { noteRemoteHost } from "../accounts/remote.ts";
import { audited } from "../operation/audited.ts";
import type { Context, Policy } from "../operation/context.ts";
import { requireFree, useJoinToken } from "./join-tokens.ts";

/** Uids that must remain above the host's own: a host that reports the highest of all must not use the range up. */
const UIDS_LEFT = 1000;

/**
 * Makes the host, active, in the token's group if it has one. Throws `unauthorized` for an invalid token, `conflict` for a name or key
 * that is taken and for uids that leave too few, and `invalid`; the token can then be used again.
 */
export async function enrolHost(context: Context, wanted: Enrolment): Promise<Enrolled> {
  const entry = { action: "host.enrol", detail: { host: wanted.name } } as const;
  const enrolled = await audited(context, entry, async (op) => {
    const { tx } = op;
    const now = context.clock.now();
    const token = await useJoinToken(tx, wanted.token, now);
    const publicKey = parseAgentKey(wanted.public_key);
    const name = token.name === "" ? parseHostName("host", wanted.name) : token.name;
    await requireFree(tx, name);
    await raiseUids(tx, wanted.highest_uid, context.policy);
    const { mode, version, ssh } = wanted;
    const [host] = await refuseTaken(
      name,
      tx
        .insert(hosts)
        .values({
          ...{ name, publicKey, mode, version, enrolledAt: now, lastSeenAt: now },
          ...{ sshHost: ssh.host, sshPort: ssh.port, hostKeys: JSON.stringify(ssh.host_keys) },
        })
        .returning({ id: hosts.id }),
    );
    if (host === undefined) throw new Error("insert returned no row");
    const group = token.groupId === null ? "" : await joinGroup(tx, host.id, token.groupId);
    op.record({
      resourceId: String(host.id),
      // The author of the token let the host in.
      actor: { type: "token", name: "token for joining", owner: token.createdBy, ip: context.actor.ip },
      detail: { host: name, mode, version, ssh_host: ssh.host, key: keyFingerprint(publicKey), group },
    });
    context.log.warn("a host joined", { host: name, address: context.actor.ip });
    return { host_id: host.id, name };
  });
  noteRemoteHost(context);
  return enrolled;
}

/** Returns the group's name. */
async function joinGroup(tx: Transaction, hostId: number, groupId: number): Promise<string> {
  await tx.insert(hostGroupMembers).values({ groupId, hostId });
  const [group] = await tx.select({ name: hostGroups.name }).from(hostGroups).where(eq(hostGroups.id, groupId));
  if (group === undefined) throw new Error("a host joined a group that is gone");
  return group.name;
}

/** The 32 bytes of a key in base64. Throws `invalid` for a key that proves nothing. */
export function parseAgentKey(text: string): Uint8Array {
  const bytes = Buffer.from(text, "base64");
  if (bytes.length !== 32 || bytes.toString("base64") !== text) {
    throw new UamError("invalid", "public_key must be the 32 bytes of an Ed25519 key in base64");
  }
  const fault = ed25519Fault(bytes);
  if (fault !== undefined) throw new UamError("invalid", `The key in public_key ${fault}`);
  return new Uint8Array(bytes);
}

/** Accounts never get a uid that the host already uses. */
async function raiseUids(tx: Transaction, highest: number, { uidRange }: Pick<Policy, "uidRange">): Promise<void> {
  const { first, last } = uidRange;
  if (highest < first || highest > last) return;
  if (last - highest < UIDS_LEFT) {
    const sentence = `The host has an account with the uid ${highest}, so that hardly any of UAM_UID_RANGE (${first}-${last}) would be left; give that account another uid, or extend the range`;
    throw new UamError("conflict", sentence, { reason: "host.uids" });
  }
  await tx
    .insert(uidCounter)
    .values({ one: 1, last: highest })
    .onConflictDoUpdate({ target: uidCounter.one, set: { last: sql`greatest(${uidCounter.last}, excluded.last)` } });
}

async function refuseTaken<T>(name: string, insert: PromiseLike<T>): Promise<T> {
  try {
    return await insert;
  } catch (error) {
    if (isDuplicate(error, "hosts_name_unique")) {
      throw new UamError("conflict", `There is a host named ${name}`, { reason: "host.taken" });
    }
    if (isDuplicate(error, "hosts_publicKey_unique")) {
      throw new UamError("conflict", "Another host has this key; each has its own", { reason: "host.key_taken" });
    }
    throw error;
  }
}
