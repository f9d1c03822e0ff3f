/** Leases that root prolonged on this host and that the service has not been told of yet: one file each, as with `uam lock`. */

import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { HostHold } from "../protocol/fleet.ts";
import { removeDurably, writeDurably } from "../shared/system/durable-file.ts";
import { readPlainFile } from "../shared/system/plain-file.ts";

const NAME = /^hold-([0-9a-f-]{36})\.json$/;

export function writeHold(directory: string, hold: HostHold): void {
  writeDurably(pathOf(directory, hold.id), `${JSON.stringify(hold)}\n`);
}

/** All of them, oldest first; one that cannot be read is left out. */
export function readHolds(directory: string): readonly HostHold[] {
  const holds = readdirSync(directory)
    .filter((name) => NAME.test(name))
    .flatMap((name) => {
      try {
        const { id, at, until, reason, operator } = JSON.parse(readPlainFile(join(directory, name)));
        const isWhole = [id, at, until, reason, operator].every((value) => typeof value === "string");
        return isWhole ? [{ id, at, until, reason, operator }] : [];
      } catch {
        return [];
      }
    });
  return holds.sort((a, b) => (a.at < b.at ? -1 : 1));
}

/** Forgets one that the service was told of. */
export function removeHold(directory: string, id: string): void {
  removeDurably(pathOf(directory, id));
}

function pathOf(directory: string, id: string): string {
  return join(directory, `hold-${id}.json`);
}
