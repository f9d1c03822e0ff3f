/** The audit log's filters in the address and in the form, and its file. */

import { describe, expect, test } from "bun:test";
import { instantOf, localOf } from "../../src/console/local-time.ts";
import { bytesText, fileNameOf, receive } from "../../src/console/pages/admin/audit/download.ts";
import { auditHref, filterOf, NO_FILTER, RANGES } from "../../src/console/pages/admin/audit/filter.ts";
import { pageOf } from "../../src/console/ui/page-number.ts";

describe("the address", () => {
  test("has the filters that are set, and gives them back", () => {
    const filter = {
      ...NO_FILTER,
      actor: "root & co",
      result: "failed",
      user_id: "7",
      since: "2026-11-20T08:00:00.000Z",
    };
    const address = auditHref(filter, 3);
    const query = Object.fromEntries(new URL(address, "https://x").searchParams);
    expect(address).toStartWith("/admin/audit?actor=root");
    expect(filterOf(query)).toEqual(filter);
    expect(pageOf(query.page)).toBe(3);
    expect(auditHref({})).toBe("/admin/audit");
  });

  test("names the first page where it names none", () => {
    for (const page of ["", "0", "-1", "1.5", "x", "9".repeat(20)]) expect(pageOf(page)).toBe(1);
    expect(pageOf(undefined)).toBe(1);
  });
});

describe("local times", () => {
  test("become moments and come back; an end is the end of its minute", () => {
    expect(localOf(instantOf("2026-11-20T09:30", "since"))).toBe("2026-11-20T09:30");
    const end = instantOf("2026-11-20T09:30", "until");
    expect(localOf(end)).toBe("2026-11-20T09:30");
    expect(end).toEndWith(":59.999Z");
  });

  test("are empty for what is no moment", () => {
    expect(instantOf("", "since")).toBe("");
    expect(instantOf("soon", "until")).toBe("");
    expect(localOf("")).toBe("");
    expect(localOf("yesterday")).toBe("");
  });
});

describe("RANGES", () => {
  test("begin at a midnight of the reader's, and ever at none", () => {
    expect(RANGES.all()).toBe("");
    for (const name of ["today", "week", "month", "thisMonth"] as const)
      expect(localOf(RANGES[name]())).toEndWith("T00:00");
    expect(localOf(RANGES.thisMonth())).toEndWith("-01T00:00");
    const days = (Date.parse(RANGES.today()) - Date.parse(RANGES.week())) / 86_400_000;
    expect(Math.round(days)).toBe(7);
  });
});

describe("fileNameOf()", () => {
  test("takes the name, and nothing that leads elsewhere", () => {
    expect(fileNameOf('attachment; filename="audit-2026-11-22.csv"')).toBe("audit-2026-11-22.csv");
    expect(fileNameOf("attachment; filename=audit.csv")).toBe("audit.csv");
    expect(fileNameOf('attachment; filename="../../etc/passwd"')).toBe(".._.._etc_passwd");
    expect(fileNameOf("attachment")).toBe("export.csv");
  });
});

describe("receive()", () => {
  test("hands over the whole file and says how much there is", async () => {
    const heard: number[] = [];
    const headers = { "content-type": "text/csv", "content-disposition": 'attachment; filename="a.csv"' };
    const file = await receive(new Response("id,action\n1,user.create\n", { headers }), (bytes) => heard.push(bytes));
    expect(file.name).toBe("a.csv");
    expect(await file.content.text()).toBe("id,action\n1,user.create\n");
    expect(heard.at(-1)).toBe(file.content.size);
  });

  test("keeps the order of a file of many pieces", async () => {
    const pieces = Array.from({ length: 40 }, (_, index) => new Uint8Array(1024 * 1024).fill(index));
    const stream = new ReadableStream({
      start(controller) {
        for (const piece of pieces) controller.enqueue(piece);
        controller.close();
      },
    });
    const { content } = await receive(new Response(stream), () => {});
    const bytes = new Uint8Array(await content.arrayBuffer());
    expect(bytes.length).toBe(40 * 1024 * 1024);
    for (const index of pieces.keys()) expect(bytes[index * 1024 * 1024]).toBe(index);
  });

  test("fails if the file ends early", async () => {
    const stream = new ReadableStream({
      pull: (controller) => controller.error(new TypeError("network error")),
    });
    await expect(receive(new Response(stream), () => {})).rejects.toThrow("network error");
  });
});

test("bytesText() speaks of bytes, kilobytes and megabytes", () => {
  expect([bytesText(1), bytesText(999), bytesText(12_345), bytesText(12_345_678)]).toEqual([
    ...["1 byte", "999 bytes", "12 kB", "12.3 MB"],
  ]);
});
