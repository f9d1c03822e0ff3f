import { expect, test } from "bun:test";
import { uploadKey } from "../../../src/domain/keys/keys.ts";
import { allowAccess } from "../../../src/domain/requests/allow.ts";
import { endAccess } from "../../../src/domain/requests/end.ts";
import { createUser } from "../../../src/domain/users/users.ts";
import { createWorld } from "../../long/year/world.ts";
import { freshKey } from "../../support/keys.ts";

test("a restore brings back no access on request that was ended since the backup", async () => {
  const world = await createWorld();
  try {
    const fields = { username: "ada", email: "ada@example.org", onRequest: { rule: "review", maxHours: 8 } } as const;
    const { id } = await createUser(world.operator(), fields);
    await uploadKey(world.operator(), id, { name: "k", publicKey: freshKey() });
    await allowAccess(world.operator(), id, { hours: 8, hosts: null });
    await world.backUp();
    await endAccess(world.operator(), id);
    const account = () => world.host.accounts.get("ext_ada");
    expect(account()).toMatchObject({ open: false, file: [] });
    await world.setBack();
    await world.work();
    expect(account()).toMatchObject({ open: false, file: [] });
    await allowAccess(world.operator(), id, { hours: 8, hosts: null });
    expect(account()?.open).toBe(true);
  } finally {
    await world.close();
  }
});
