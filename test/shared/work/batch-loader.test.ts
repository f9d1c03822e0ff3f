import { describe, expect, test } from "bun:test";
import { gathered } from "../../../src/shared/work/batch-loader.ts";

interface Row {
  readonly owner: number;
  readonly name: string;
}

/** A reader of rows named after the statement that read them, whose statements answer when they are told to. */
function createReader() {
  const statements: {
    readonly keys: readonly number[];
    readonly answer: (rows?: readonly Row[]) => void;
    readonly fail: (error: Error) => void;
  }[] = [];
  const read = gathered(
    (keys: readonly number[]) => {
      const { promise, resolve, reject } = Promise.withResolvers<readonly Row[]>();
      const number = statements.length;
      const own = keys.map((owner) => ({ owner, name: `${owner} by ${number}` }));
      statements.push({ keys, answer: (rows = own) => resolve(rows), fail: reject });
      return promise;
    },
    ({ owner }: Row) => owner,
  );
  return { read, statements, sent: () => statements.map(({ keys }) => keys) };
}

const turn = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));

describe("gathered()", () => {
  test("reads what is asked for at the same moment with one statement, each key once, and gives each caller its own rows", async () => {
    const { read, statements, sent } = createReader();
    const asked = [read(1), read(2), read(1), read(3)];
    await turn();
    expect(sent()).toEqual([[1, 2, 3]]);
    statements[0]?.answer([
      { owner: 2, name: "b" },
      { owner: 1, name: "z" },
      { owner: 1, name: "a" },
    ]);
    const [first, second, again, none] = await Promise.all(asked);
    expect(first?.map(({ name }) => name)).toEqual(["z", "a"]);
    expect(second?.map(({ name }) => name)).toEqual(["b"]);
    expect(again).toEqual(first ?? []);
    expect(none).toEqual([]);
  });

  test("a row of a key that nobody asked for reaches nobody", async () => {
    const { read, statements } = createReader();
    const asked = [read(1), read(2)];
    await turn();
    statements[0]?.answer([{ owner: 7, name: "stranger" }]);
    expect(await Promise.all(asked)).toEqual([[], []]);
  });

  test("whoever asks once a statement is on its way is not answered by it: what it read may be older", async () => {
    const { read, statements, sent } = createReader();
    const before = read(1);
    await turn();
    const after = read(1);
    await turn();
    expect(sent()).toEqual([[1], [1]]);
    statements[1]?.answer();
    statements[0]?.answer();
    expect((await before)[0]?.name).toBe("1 by 0");
    expect((await after)[0]?.name).toBe("1 by 1");
  });

  test("two statements are under way at once, and what comes meanwhile gathers for the next", async () => {
    const { read, statements, sent } = createReader();
    const asked: Promise<readonly Row[]>[] = [];
    for (const key of [1, 2, 3, 4, 5]) {
      asked.push(read(key));
      await turn();
    }
    expect(sent()).toEqual([[1], [2]]);
    statements[1]?.answer();
    await turn();
    expect(sent()).toEqual([[1], [2], [3, 4, 5]]);
    statements[2]?.answer();
    statements[0]?.answer();
    expect((await Promise.all(asked)).map((rows) => rows[0]?.owner)).toEqual([1, 2, 3, 4, 5]);
  });

  test("a thousand keys at once are read 256 at a time", async () => {
    const { read, statements, sent } = createReader();
    const keys = Array.from({ length: 1000 }, (_, index) => index);
    const asked = Promise.all(keys.map((key) => read(key)));
    for (let statement = 0; statement < 4; statement++) {
      await turn();
      statements[statement]?.answer();
    }
    expect((await asked).map((rows) => rows[0]?.owner)).toEqual(keys);
    expect(sent().map(({ length }) => length)).toEqual([256, 256, 256, 232]);
  });

  test("a statement that fails fails for those that it was for, and for nobody after them", async () => {
    const { read, statements } = createReader();
    const failing = Promise.allSettled([read(1), read(2)]);
    await turn();
    const next = read(1);
    await turn();
    statements[0]?.fail(new Error("the connection was cut"));
    expect((await failing).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    statements[1]?.answer();
    expect((await next)[0]?.name).toBe("1 by 1");
    const later = read(2);
    await turn();
    statements[2]?.answer();
    expect((await later)[0]?.name).toBe("2 by 2");
  });

  test("a reader that throws at once fails only its callers", async () => {
    let calls = 0;
    const read = gathered(
      (keys: readonly number[]) => {
        if (calls++ === 0) throw new Error("no connection");
        return Promise.resolve(keys);
      },
      (key) => key,
    );
    expect(read(1)).rejects.toThrow("no connection");
    await turn();
    expect(await read(2)).toEqual([2]);
  });
});
