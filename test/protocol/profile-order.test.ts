/** The comparison of profiles, against a slow oracle that lists all that each lets an account do. */

import { describe, expect, test } from "bun:test";
import type { HostProfile } from "../../src/protocol/profile.ts";
import { compareProfiles, narrowestOf, type Profile } from "../../src/protocol/profile-order.ts";

const TARGETS = ["a:1", "b:2", "c:3"];
const IDLE = [60, 300];
const SESSIONS = [0, 1, 5, 10, 20];

/** Every single thing that may be done by a profile, of what these tests know. */
function powersOf(profile: Profile): ReadonlySet<string> {
  const powers = new Set<string>();
  const { forwarding = false, targets = [], umask = "000" }: Partial<HostProfile> = profile ?? {};
  const kind = profile?.kind ?? "none";
  const shell = kind === "none" || kind === "shell";
  if (kind === "none") powers.add("forward an agent");
  if (shell) powers.add("run anything");
  for (const command of ["deploy", "report"]) if (shell || profile?.command === command) powers.add(`run ${command}`);
  for (const directory of ["/a", "/b"]) {
    if (!shell && profile?.directory !== directory) continue;
    powers.add(`read ${directory}`);
    if (shell || profile?.readOnly !== true) powers.add(`write ${directory}`);
    for (const bit of [1, 2, 4, 8, 16, 32])
      if (shell || (Number.parseInt(umask, 8) & bit) === 0) powers.add(`give bit ${bit} in ${directory}`);
  }
  const all = kind === "none" || (shell && forwarding === true);
  if (all) powers.add("forward to anywhere");
  const listed = kind === "forward" ? targets : shell && Array.isArray(forwarding) ? (forwarding as string[]) : [];
  for (const target of TARGETS) if (all || listed.includes(target)) powers.add(`forward to ${target}`);
  for (const idle of [...IDLE, Infinity])
    if (idle <= (profile?.idleSeconds ?? Infinity)) powers.add(`be silent for ${idle}`);
  const most = kind === "forward" ? 0 : (profile?.maxSessions ?? 10);
  for (const count of SESSIONS) if (count <= most) powers.add(`open ${count} sessions`);
  if (profile?.secondFactor !== "verified") powers.add("log in without a PIN");
  if (profile?.attestation !== "required") powers.add("log in with a key of any make");
  for (const group of profile?.groups ?? []) powers.add(`group ${group}`);
  for (const template of profile?.sudo ?? []) powers.add(`sudo ${template}`);
  return powers;
}

function pick<T>(random: () => number, values: readonly T[]): T {
  return values[Math.floor(random() * values.length)] as T;
}

function some<T>(random: () => number, values: readonly T[]): T[] {
  return values.filter(() => random() < 0.5);
}

/** Numbers from 0 to 1 that are the same in each run. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function anyProfile(random: () => number): Profile {
  const kind = pick(random, ["none", "shell", "sftp", "forward", "command"] as const);
  if (kind === "none") return undefined;
  const few = some(random, TARGETS);
  const limits = {
    ...(random() < 0.5 ? {} : { idleSeconds: pick(random, IDLE) }),
    ...(random() < 0.5 || kind === "forward" ? {} : { maxSessions: pick(random, SESSIONS.slice(1)) }),
    ...pick(random, [
      { secondFactor: "none" },
      { secondFactor: "none" },
      { secondFactor: "verified" },
      { secondFactor: "verified", attestation: "required" },
    ] as const),
  };
  const own = {
    shell: () => ({
      forwarding: pick(random, [true, false, few.length > 0 ? few : true]),
      groups: some(random, ["docs"]),
      sudo: random() < 0.3 ? ["restart"] : [],
    }),
    sftp: () => ({
      directory: pick(random, ["/a", "/b"]),
      readOnly: random() < 0.5,
      ...(random() < 0.4 ? {} : { umask: pick(random, ["027", "077", "000"]) }),
    }),
    forward: () => ({ targets: few.length > 0 ? few : ["a:1"] }),
    command: () => ({ command: pick(random, ["deploy", "report"]) }),
  }[kind]();
  return { name: "p", kind, ...limits, ...own };
}

describe("compareProfiles()", () => {
  test("agrees with a list of all that each lets an account do", () => {
    const random = numbers(7);
    const seen = new Map<string, number>();
    for (let round = 0; round < 20_000; round++) {
      const [one, other] = [anyProfile(random), anyProfile(random)];
      const [left, right] = [powersOf(one), powersOf(other)];
      const [within, around] = [left.isSubsetOf(right), right.isSubsetOf(left)];
      const wanted = within ? (around ? "same" : "narrower") : around ? "wider" : "incomparable";
      const order = compareProfiles(one, other);
      expect({ one, other, order }).toEqual({ one, other, order: wanted });
      seen.set(order, (seen.get(order) ?? 0) + 1);
    }
    expect([...seen.keys()].sort()).toEqual(["incomparable", "narrower", "same", "wider"]);
  });

  test("nobody without a profile has what only a profile gives", () => {
    const shell = { name: "dev", kind: "shell", secondFactor: "none", forwarding: true } as const;
    expect(compareProfiles(shell, undefined)).toBe("narrower");
    expect(compareProfiles({ ...shell, sudo: ["restart"] }, undefined)).toBe("incomparable");
  });
});

describe("narrowestOf()", () => {
  test("finds the one within all others, whatever their order; none of none, and says when there is none", () => {
    const random = numbers(11);
    for (let round = 0; round < 5000; round++) {
      const several = [anyProfile(random), anyProfile(random), anyProfile(random)].flatMap((one) => one ?? []);
      const found = narrowestOf(several);
      const least = several.find((one) => several.every((other) => powersOf(one).isSubsetOf(powersOf(other))));
      expect(found).toEqual(several.length === 0 ? undefined : (least ?? "incomparable"));
    }
  });
});
