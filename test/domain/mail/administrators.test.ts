import { afterAll, beforeAll, expect, test } from "bun:test";
import { addAdmin } from "../../../src/domain/auth/administrators/add-admin.ts";
import { type Telling, tellAdministrators } from "../../../src/domain/mail/administrators.ts";
import { letter, paragraph } from "../../../src/domain/mail/letter.ts";
import { ADMIN_ROLES } from "../../../src/shared/product/statuses.ts";
import { ADMIN_PASSWORD, createTestApp, type TestApp } from "../../support/app.ts";

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
  for (const role of ADMIN_ROLES) await addAdmin(app.system, role, `${role}@example.org`, ADMIN_PASSWORD, role);
});
afterAll(() => app.close());

test.each([
  ["users", ["owner", "operator"]],
  ["applications", ["owner", "operator", "reviewer"]],
  ["audit", ["owner", "auditor"]],
  ["policy", ["owner", "auditor"]],
] as const)("tellAdministrators() about %s tells %p, once for an occasion", async (about, roles) => {
  const telling: Telling = { about, occasion: `test:${about}` };
  const message = letter(`About ${about}`, [paragraph("Something happened.")]);
  for (let round = 0; round < 2; round++) {
    await app.db.transaction((tx) => tellAdministrators({ tx, context: app.services }, message, telling));
  }
  const told = (await app.mails()).filter(({ subject }) => subject === `About ${about}`);
  expect(told.map(({ recipient }) => recipient)).toEqual(roles.map((role) => `${role}@example.org`));
});
