/** What root writes down of adopted accounts, in memory; nothing is done on a host. */

import { fingerprintOf } from "../../src/host/key-file/effective-keys.ts";
import type { Adopter, Adoption, KeptKey } from "../../src/protocol/adoption.ts";
import type { TestApp } from "./app.ts";
import { freshKey } from "./keys.ts";

/** An adopter that knows these, and takes none over. */
export function adopterOf(written: Map<number, Adoption>): Adopter {
  return {
    look: async () => undefined,
    take: async () => {
      throw new Error("nothing is taken over here");
    },
    giveBack: async () => {},
    adoptions: () => [...written.values()],
    adoption: (uid) => written.get(uid),
    mark: (uid, state) => {
      const adoption = written.get(uid);
      if (adoption !== undefined) written.set(uid, { ...adoption, state });
    },
    forget: (uid) => {
      written.delete(uid);
    },
  };
}

/** A key that was found. */
export function foundKey(comment: string, line = freshKey(comment)): KeptKey {
  const [type = "", base64 = ""] = line.split(" ");
  const path = "/home/wendy/.ssh/authorized_keys";
  return { type, base64, fingerprint: fingerprintOf(base64), options: "", comment, path };
}

/** From now on, the application knows that the user's account was adopted, with these keys in it. */
export async function noteAdopted(app: TestApp, userId: number, keys: readonly KeptKey[]): Promise<void> {
  const [account] = await app.db.execute<{ uid: number }>(`select uid from accounts where user_id = ${userId}`);
  const uid = Number(account?.uid);
  const written = new Map((app.services.adopter?.adoptions() ?? []).map((adoption) => [adoption.uid, adoption]));
  written.set(uid, { uid, former: "wendy", name: "ext_wendy", state: "held", keys });
  Object.assign(app.services, { adopter: adopterOf(written) });
}
