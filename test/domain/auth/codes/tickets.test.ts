import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { issueTicket, openTicket } from "../../../../src/domain/auth/codes/tickets.ts";
import { createTestApp, type TestApp } from "../../../support/app.ts";

const binding = { purpose: "login", holder: "" } as const;

describe("openTicket()", () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await createTestApp();
  });
  afterAll(() => app.close());

  test.each([0, 1, 255, 256])("opens a ticket with a payload of %i bytes", async (length) => {
    const payload = "x".repeat(length);
    const ticket = await issueTicket(app.services, binding, payload);
    expect((await openTicket(app.services, binding, ticket))?.payload).toBe(payload);
  });

  test("opens none with a longer one: it is not looked at", async () => {
    const ticket = await issueTicket(app.services, binding, "x".repeat(259));
    expect(await openTicket(app.services, binding, ticket)).toBeUndefined();
  });
});
