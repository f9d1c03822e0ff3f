import { describe, expect, test } from "bun:test";
import { oddFilters } from "../../src/console/odd-filters.ts";
import { filterOf } from "../../src/console/pages/admin/audit/filter.ts";
import { FILTERS } from "../../src/console/pages/admin/users/view.ts";

describe("oddFilters", () => {
  test.each([
    [{}, []],
    [{ status: "", page: "2", q: "x", sort: "username" }, []],
    [{ status: "bogus" }, ["status"]],
    [{ Status: "active" }, ["Status"]],
    [{ page: "0", sort: "up" }, ["page", "sort"]],
    [{ supervisro: "Ada" }, ["supervisro"]],
    [{ utm_source: "mail", constructor: "x", hasOwnProperty: "x" }, []],
  ])("oddFilters() of %j are %j", (query, odd) => {
    expect(oddFilters(query as Readonly<Record<string, string>>, FILTERS)).toEqual(odd);
  });
});

test("filterOf() leaves out what the service would refuse", () => {
  const read = filterOf({
    action: "user.crate",
    resource_type: "user",
    result: "ok",
    user_id: "x",
    since: "soon",
    actor: "ada",
  });
  expect(read).toMatchObject({ action: "", resource_type: "user", result: "", user_id: "", since: "", actor: "ada" });
});
