import { expect, test } from "bun:test";
import { show } from "../../../../src/cli/commands/profiles/profile-try.ts";
import type { Tried } from "../../../../src/host/profiles/trial/trial.ts";

const TRIED: readonly Tried[] = [
  { name: "a shell", may: false, seen: "refused" },
  { name: "sftp: put a file", may: true, seen: "happened" },
  { name: "a hop to another host (-J)", may: undefined, seen: "refused" },
  { name: "git", may: false, seen: { untried: "this host has no git" } },
];

async function shown(
  tried: readonly Tried[],
  json = false,
): Promise<{ readonly status: number; readonly text: string }> {
  let text = "";
  const environment = {
    out: (some: string) => {
      text += some;
    },
    err: () => undefined,
    columns: undefined,
  };
  return { status: await show(environment, tried, json), text };
}

test("uam profile try prints what happened of what the profile says, and how much of it is right", async () => {
  const { status, text } = await shown(TRIED);
  expect(status).toBe(0);
  expect(text).toMatch(/^CLIENTS TRY +PROFILE +HAPPENED/);
  expect(text).toMatch(/^a shell +refuses +refused$/m);
  expect(text).toMatch(/^sftp: put a file +allows +yes$/m);
  expect(text).toMatch(/^git +refuses +not tried: this host has no git$/m);
  expect(text).toContain("\n2 as the profile says, 0 not, 2 not tried.\n");
});

test("uam profile try ends with 1 and names what is wrong", async () => {
  const { status, text } = await shown([...TRIED, { name: "a terminal", may: false, seen: "happened" }]);
  expect(status).toBe(1);
  expect(text).toMatch(/^a terminal +refuses +yes +WRONG$/m);
  expect(text).toContain("2 as the profile says, 1 not, 2 not tried.");
});

test("uam profile try --json says the same for programs", async () => {
  const { text } = await shown(TRIED, true);
  expect(JSON.parse(text)[0]).toEqual({ name: "a shell", may: false, seen: "refused", as_said: true });
  expect(JSON.parse(text)[2]).toMatchObject({ may: null, as_said: null });
});
