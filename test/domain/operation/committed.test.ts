import { afterAll, beforeAll, expect, test } from "bun:test";
import { readCommitted } from "../../../src/domain/operation/committed.ts";
import { createTestApp, type TestApp } from "../../support/app.ts";

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app.close());

const lost = () => Object.assign(new Error("write EPIPE"), { code: "EPIPE" });

test("what is answered about a change that is stored is read again where the database is lost just then", async () => {
  let asked = 0;
  const read = async () => {
    asked++;
    if (asked === 1) throw lost();
    return "as stored";
  };
  expect(await readCommitted(app.system, read)).toBe("as stored");
  expect(asked).toBe(2);
});

test("another failure is thrown at once", async () => {
  let asked = 0;
  const read = async () => {
    asked++;
    throw new Error("a mistake");
  };
  await expect(readCommitted(app.system, read)).rejects.toThrow("a mistake");
  expect(asked).toBe(1);
});
