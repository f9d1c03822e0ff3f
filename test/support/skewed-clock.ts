/** Loaded before the program (`bun --preload`): its clock is off by what the file that UAM_TEST_TIME names says, as `+10d`, `-13h` or `+0`. */

import { readFileSync } from "node:fs";

const path = process.env.UAM_TEST_TIME ?? "";
const UNITS: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000, "": 1000 };
const RealDate = Date;

function now(): number {
  const [, amount = "0", unit = ""] = /^([+-]\d+)([dh]?)/.exec(readFileSync(path, "utf8")) ?? [];
  return RealDate.now() + Number(amount) * (UNITS[unit] ?? 0);
}

globalThis.Date = class extends RealDate {
  constructor(...given: readonly unknown[]) {
    super(...((given.length === 0 ? [now()] : given) as [number]));
  }
  static override now = now;
} as DateConstructor;
