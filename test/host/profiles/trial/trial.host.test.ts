/** What clients do × what profiles allow, on this machine's sshd with what the service tells it, by real clients. */

import { describe, expect, test } from "bun:test";
import { renderBlocks, renderUnprofiled } from "../../../../src/host/profiles/sshd-blocks.ts";
import { FILES } from "../../../../src/host/profiles/trial/files.ts";
import { FORWARDS } from "../../../../src/host/profiles/trial/forwards.ts";
import { SESSIONS } from "../../../../src/host/profiles/trial/sessions.ts";
import { DEEDS, isAsSaid, type Tried, tryProfile } from "../../../../src/host/profiles/trial/trial.ts";
import { describeOnHost } from "../../../support/host-account.ts";
import { PROGRAM, prepareLab } from "./lab.ts";
import { columns, MATRIX } from "./matrix.ts";

const TARGET = "127.0.0.1:9";
/** Of the columns whose other half is another's: what only they tell apart. */
const PARTS: Readonly<Record<string, typeof DEEDS>> = { shell: [...SESSIONS, ...FORWARDS], to: FORWARDS, read: FILES };

test("every deed has a row, and every row a deed", () => {
  expect(Object.keys(MATRIX)).toEqual(DEEDS.map(({ name }) => name));
});

describeOnHost("profiles at a real sshd", () => {
  const lab = prepareLab(
    (directory) => columns(directory, PROGRAM, TARGET),
    (profiles) => `${renderBlocks(profiles.map((profile) => ({ profile, isShut: false })))}${renderUnprofiled()}`,
  );

  test("each client is let do what its profile says, and nothing else", async () => {
    // Side by side: most of it is waiting.
    const all = await Promise.all(
      lab().members.map(async (member, column) => {
        const deeds = PARTS[member.profile.name.replace(/-t\d+$/, "")] ?? DEEDS;
        const tried = await tryProfile(lab().door(member), member.profile, member, deeds);
        return tried.map((row) => ({ column, row }));
      }),
    );
    const wrong = all.flat().flatMap(({ column, row }) => {
      const expected = MATRIX[row.name]?.split(" ")[column];
      const is = letterOf(row);
      // What this machine lacks a program for says nothing.
      return expected === is || is === "-" || expected === "-" ? [] : [{ column, ...row, expected }];
    });
    expect(wrong).toEqual([]);
    expect(all.flat().filter(({ row }) => isAsSaid(row) === false)).toEqual([]);
    expect(all.flat().length).toBeGreaterThan(150);
  });
});

describe("what a trial says", () => {
  const row = { name: "a shell", may: false, seen: "refused" } as const;
  test("isAsSaid() says nothing of what was not tried, or is not the profile's affair", () => {
    expect(isAsSaid(row)).toBe(true);
    expect(isAsSaid({ ...row, may: true })).toBe(false);
    expect(isAsSaid({ ...row, seen: "happened" })).toBe(false);
    expect(isAsSaid({ ...row, may: undefined })).toBeUndefined();
    expect(isAsSaid({ ...row, seen: { untried: "no git" } })).toBeUndefined();
  });
});

function letterOf({ seen }: Tried): "y" | "n" | "-" {
  if (typeof seen === "object") return "-";
  return seen === "happened" ? "y" : "n";
}
