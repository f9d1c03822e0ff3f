/** What a service that starts finds to be done: overdue, different from what is stored, or cut short by an earlier crash. */

import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { hostAccountOf } from "../../../src/shared/text/account-name.ts";
import type { FaultPoint } from "../../../src/shared/work/fault-point.ts";
import { freshKey } from "../../support/keys.ts";
import { DEEDS, type Deed, type Subject } from "./deeds.ts";
import type { World } from "./world.ts";

const nothing: Deed["act"] = async () => undefined;

/** Cuts the deed short there. */
function after(name: string, point: FaultPoint): Deed["prepare"] {
  return async (context, world) => {
    const deed = DEEDS[name] as Deed;
    const subject = await deed.prepare(context, world);
    world.arm({ point, nth: 1, action: "kill" });
    await deed.act(world, subject);
    world.disarm();
    await world.kill();
    return subject;
  };
}

function overdue(days: number): Deed["prepare"] {
  return async (context, world) => {
    const subject = await (DEEDS.disable as Deed).prepare(context, world);
    await world.sql(`update users set expire_at = now() - interval '${days} days 1 second' where id = ${subject.id}`);
    return subject;
  };
}

async function addKey(world: World, { name }: Subject): Promise<void> {
  appendFileSync(join(world.base, hostAccountOf(name), ".ssh/authorized_keys"), `${freshKey()}\n`);
}

export const STARTS: Readonly<Record<string, Deed>> = {
  expiry: {
    ...{ action: "lifecycle.expire", kind: "takes", atStart: "is finished", act: nothing },
    prepare: overdue(0),
    isDone: (state) => state?.status === "expired",
  },
  recycling: {
    ...{ action: "lifecycle.recycle", kind: "takes", atStart: "is finished", act: nothing },
    prepare: overdue(400),
    isDone: (state) => state === undefined,
  },
  "a key that somebody added": {
    ...{ action: "reconcile.repair", kind: "takes", atStart: "is not to be seen", act: nothing },
    prepare: async (context, world) => {
      const subject = await (DEEDS.disable as Deed).prepare(context, world);
      await addKey(world, subject);
      return subject;
    },
    isDone: () => false,
  },
  "an account half made": {
    ...{ action: "user.create", kind: "gives", atStart: "is not to be seen", act: nothing },
    prepare: after("create", "account: made, intent still noted"),
    isDone: () => false,
  },
  "a deletion that was begun": {
    ...{ action: "user.delete", kind: "takes", atStart: "is finished", act: nothing },
    prepare: after("delete", "closing: noted, host untouched"),
    isDone: (state) => state === undefined,
  },
  "a revocation that was begun": {
    ...{ action: "key.revoke", kind: "takes", atStart: "is finished", act: nothing },
    prepare: after("revoke", "closing: host done, not stored"),
    isDone: (DEEDS.revoke as Deed).isDone,
  },
  "a lock that was written down": {
    ...{ action: "user.disable", kind: "takes", atStart: "is finished", act: nothing },
    prepare: after("uam lock", "lock: account shut, not recorded"),
    isDone: (state) => state?.status === "disabled",
  },
};
