/** What a deleted account left: its uid is nobody's again. */

import type { Container } from "./container.ts";
import { step } from "./steps.ts";

/** Runs it for a service whose command is `uam`. */
export async function leftBehind({ sh }: Container, uam: string): Promise<void> {
  await step("a deleted account's uid is given to nobody", async () => {
    await sh(`${uam} user create lara --email lara@example.org`);
    const uid = (await sh("id -u ext_lara")).trim();
    await sh(`${uam} user delete lara --yes`);
    await sh(`useradd opsadmin && test "$(id -u opsadmin)" != ${uid} && userdel opsadmin`);
  });
}
