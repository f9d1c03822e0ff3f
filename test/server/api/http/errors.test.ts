import { describe, expect, test } from "bun:test";
import { errorResponse, isFault, otherFailuresAs } from "../../../../src/server/api/http/errors.ts";
import { UamError } from "../../../../src/shared/errors.ts";

const failed = (code: string, message = code) => Object.assign(new Error(message), { code });
const query = (cause: Error) => new Error("Failed query: select 1", { cause });
const answer = async (error: unknown) => {
  const response = errorResponse(error);
  const { error: sentence } = (await response.json()) as { error: string };
  return [response.status, response.headers.get("uam-error"), sentence, response.headers.get("retry-after")];
};
const LOST = [500, "service.not_ready", "The database does not answer; try again in a moment.", "2"];

describe("errorResponse()", () => {
  test.each([
    ["a server that refuses", failed("ECONNREFUSED")],
    ["a connection that was cut", query(failed("CONNECTION_CLOSED"))],
    ["a node that shuts down", query(failed("57P01"))],
    ["a node that became a standby", query(failed("25006"))],
    ["a server without a connection to spare", query(failed("53300"))],
    ["no socket to connect to", query(failed("ENOENT", "connect ENOENT /run/.s.PGSQL.5432"))],
  ])("says when to try again for %s", async (_, error) => {
    expect(await answer(error)).toEqual(LOST);
    expect(isFault(error)).toBeTrue();
  });

  test("says that the disk of the database is full, and to whom that matters", async () => {
    const error = query(failed("53100", "could not extend file"));
    const sentence =
      "Nothing was changed: the disk of the database is full. Whoever runs this service has to make room on it.";
    expect(await answer(error)).toEqual([500, "database.full", sentence, "60"]);
    expect(isFault(error)).toBeTrue();
    const created = await otherFailuresAs("invalid", [], Promise.reject(error)).catch((thrown) => thrown);
    expect(await answer(created)).toEqual([400, "database.full", sentence, "60"]);
  });

  test("keeps the status that the specification's table has for other failures", async () => {
    const operation = Promise.reject(query(failed("CONNECTION_CLOSED")));
    expect(await answer(await otherFailuresAs("invalid", [], operation).catch((error) => error))).toEqual(
      LOST.with(0, 400),
    );
  });

  test("keeps the sentence of a failure that could not be recorded", async () => {
    const cause = query(failed("ECONNRESET"));
    const error = new UamError("internal", "It failed, nothing was changed.", { cause, reason: "audit.unrecorded" });
    expect(await answer(error)).toEqual([500, "audit.unrecorded", "It failed, nothing was changed.", "2"]);
  });

  test("stays 500 where access is being taken away, and for what is not the database's", async () => {
    const cause = failed("CONNECTION_CLOSED");
    const owed = new UamError("internal", "The account is shut.", { cause, reason: "access.owed" });
    expect(await answer(owed)).toEqual([500, "access.owed", "The account is shut.", null]);
    expect((await answer(failed("ENOENT", "open '/home/x'")))[0]).toBe(500);
    expect((await answer(failed("23505")))[0]).toBe(500);
  });
});
