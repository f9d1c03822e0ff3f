/** Reads that are asked for at the same moment, by one statement. */

/** How many keys one statement may have; further callers are in the next. */
const MOST = 256;
/**
 * Statements of one reader under way at once; calls that come meanwhile gather. Two, so that one connection that hangs does not
 * stop everything.
 */
const UNDER_WAY = 2;

interface Waiting<Row> {
  readonly resolve: (rows: readonly Row[]) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * A reader that returns the rows of a key, in the order in which `read` returns them. `read` gets all keys of a moment, each
 * once, and `keyOf` gives a row's key. Nothing is remembered: a statement is sent after its keys were asked for, never before,
 * so each caller sees everything committed by the time of the call. An error of `read` is thrown to each of its callers.
 */
export function gathered<Key extends string | number, Row>(
  read: (keys: readonly Key[]) => Promise<readonly Row[]>,
  keyOf: (row: Row) => Key,
): (key: Key) => Promise<readonly Row[]> {
  let waiting = new Map<Key, Waiting<Row>[]>();
  let underWay = 0;
  let isScheduled = false;

  // By the event loop's next turn the requests of this one, which were received together, have all been looked at.
  function schedule(): void {
    if (isScheduled || underWay === UNDER_WAY || waiting.size === 0) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      void send(take());
      schedule();
    });
  }

  function take(): ReadonlyMap<Key, readonly Waiting<Row>[]> {
    const all = waiting;
    waiting = new Map();
    if (all.size <= MOST) return all;
    const entries = [...all];
    waiting = new Map(entries.slice(MOST));
    return new Map(entries.slice(0, MOST));
  }

  async function send(batch: ReadonlyMap<Key, readonly Waiting<Row>[]>): Promise<void> {
    underWay++;
    try {
      const rows = new Map<Key, Row[]>();
      for (const key of batch.keys()) rows.set(key, []);
      for (const row of await read([...batch.keys()])) rows.get(keyOf(row))?.push(row);
      for (const [key, callers] of batch) for (const { resolve } of callers) resolve(rows.get(key) ?? []);
    } catch (error) {
      for (const callers of batch.values()) for (const { reject } of callers) reject(error);
    } finally {
      underWay--;
      schedule();
    }
  }

  return (key) =>
    new Promise((resolve, reject) => {
      const callers = waiting.get(key);
      if (callers === undefined) waiting.set(key, [{ resolve, reject }]);
      else callers.push({ resolve, reject });
      schedule();
    });
}
