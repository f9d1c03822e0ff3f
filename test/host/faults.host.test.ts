/** The faults of `bun run test:long faults` that take less than a minute, on small file systems and under limits of this host. */

import { describe, expect, test } from "bun:test";
import { noDescriptor } from "../long/faults/clients.ts";
import { fullDisk, killedServer } from "../long/faults/database.ts";
import { backupToFullDisk, logOnFullDisk, mailOnFullDisk, readOnlyData } from "../long/faults/disks.ts";
import { noProcess } from "../long/faults/surroundings.ts";

const FAULTS = {
  "the database killed again and again": () => killedServer(2),
  "the disk of the database full": fullDisk,
  "the disk of the database read-only": readOnlyData,
  "a log on a full disk": logOnFullDisk,
  "a mail log on a full disk": mailOnFullDisk,
  "a backup to a full disk": backupToFullDisk,
  "no descriptor left": noDescriptor,
  "no process left": noProcess,
};

// It makes no account, and so needs no turn.
describe.if(process.env.UAM_TEST_HOST === "1")(
  "the service goes on, says what is the matter, and leaks nothing with",
  () => {
    test.each(Object.entries(FAULTS))("%s", async (_, run) => expect(await run()).toEqual([]), 180_000);
  },
);
