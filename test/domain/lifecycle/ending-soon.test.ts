import { afterAll, beforeAll, expect, test } from "bun:test";
import { tellEndingSoon } from "../../../src/domain/lifecycle/ending-soon.ts";
import { updateUser } from "../../../src/domain/users/update.ts";
import { createUser } from "../../../src/domain/users/users.ts";
import type { EndingAccess } from "../../../src/protocol/host.ts";
import { parseHours } from "../../../src/shared/hours/text.ts";
import { createTestApp, type TestApp } from "../../support/app.ts";

let app: TestApp;
const told: (readonly EndingAccess[])[] = [];

beforeAll(async () => {
  app = await createTestApp();
  // A Friday.
  app.clock.set(new Date("2026-11-27T10:00:00Z"));
});

afterAll(() => app.close());

async function toldAt(time: string): Promise<readonly string[]> {
  app.clock.set(new Date(`2026-11-27T${time}Z`));
  const host = { ...app.services.host, tellEnding: async (ending: readonly EndingAccess[]) => void told.push(ending) };
  await tellEndingSoon({ ...app.services, host });
  return (told.at(-1) ?? []).map(({ name, at, text }) => `${name} ${at.toISOString()} ${text}`);
}

test("tellEndingSoon() tells of windows that end within ten minutes, in the zone of the hours, where sessions end with them", async () => {
  const hours = parseHours("fri 08:00-18:00 Europe/Berlin");
  const about = (username: string) => ({ username, email: `${username}@example.org`, ttlDays: 9 });
  await createUser(app.system, { ...about("anna"), hours });
  await createUser(app.system, { ...about("bert"), hours, hoursEnd: "logins" });
  await createUser(app.system, about("carl"));
  const { id } = await createUser(app.system, { ...about("dora"), hours: parseHours("fri 17:00-20:00 UTC") });
  expect(await toldAt("16:49:59")).toEqual([]);
  const line = "ext_anna 2026-11-27T17:00:00.000Z Your access ends at 18:00 (Europe/Berlin), and this session with it.";
  expect(await toldAt("16:50:00")).toEqual([line]);
  expect(await toldAt("16:59:59")).toEqual([line]);
  expect(await toldAt("17:00:00")).toEqual([]);
  await updateUser(app.system, id, { hours: parseHours("fri 17:00-17:05 UTC") });
  expect(await toldAt("17:00:00")).toEqual([expect.stringMatching(/^ext_dora .* 17:05 \(UTC\)/)]);
});
