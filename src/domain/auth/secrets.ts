/** Random keys that all replicas share through the database. */

import { randomBytes } from "node:crypto";
import { eq } from "drizzle-orm";
import { secrets } from "../../store/schema-auth.ts";
import type { Services } from "../operation/context.ts";

/** `captcha` and `ticket` seal tickets; `handle` makes the ids by which authenticators know administrators. */
export type SecretName = "captcha" | "ticket" | "handle";

const LENGTH = 32;

/** The 32 random bytes of that name, created on first use; simultaneous callers, on any replica, get the same. */
export async function sharedSecret(
  { autocommit }: Pick<Services, "autocommit">,
  name: SecretName,
): Promise<Uint8Array> {
  const find = autocommit.select().from(secrets).where(eq(secrets.name, name)).prepare("find_secret");
  const [known] = await find.execute();
  if (known !== undefined) return known.value;
  // Of several first callers one wins; the others read its value.
  await autocommit
    .insert(secrets)
    .values({ name, value: randomBytes(LENGTH) })
    .onConflictDoNothing();
  const [made] = await find.execute();
  if (made === undefined) throw new Error(`the secret ${name} was stored and is not there`);
  return made.value;
}
