import { describe, expect, test } from "bun:test";
import { accountsIn } from "../../src/host/account.ts";
import { completeTable, type HostView } from "../../src/host/executor.ts";

const TEXTS = { passwd: "ext_alice:x:41001:41001::/home/ext_alice:/bin/bash\n", group: "uam-ext:x:990:ext_alice\n" };
const SHADOW = "ext_alice:*:20000::::::\n";

describe("completeTable()", () => {
  const asked: (readonly string[])[] = [];
  const read = accountsIn({ ...TEXTS, shadow: SHADOW }).shadow;
  const view = {
    shadow: async (names: readonly string[]) => {
      asked.push(names);
      return read;
    },
  } as HostView;

  test("asks for the shadow entries of accounts that there are, where this process may not read them", async () => {
    const table = accountsIn({ ...TEXTS, shadow: undefined });
    expect(await completeTable(view, table, ["ext_alice", "ext_gone"])).toEqual({ ...table, shadow: read });
    expect(asked.splice(0)).toEqual([["ext_alice"]]);
  });

  test("asks for nothing where it has read them", async () => {
    const table = accountsIn({ ...TEXTS, shadow: SHADOW });
    expect(await completeTable(view, table, ["ext_alice"])).toBe(table);
    expect(asked).toEqual([]);
  });
});
