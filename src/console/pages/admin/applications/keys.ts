/** Deciding with the keyboard: what a key means while the list of applications has the focus. */

export type Command = "next" | "previous" | "first" | "last" | "approve" | "reject";

const COMMANDS: ReadonlyMap<string, Command> = new Map([
  ["j", "next"],
  ["ArrowDown", "next"],
  ["k", "previous"],
  ["ArrowUp", "previous"],
  ["Home", "first"],
  ["End", "last"],
  ["a", "approve"],
  ["r", "reject"],
]);

type Pressed = Pick<KeyboardEvent, "key" | "ctrlKey" | "altKey" | "metaKey" | "isComposing">;

/** The meaning of the key; undefined for one that belongs to the browser, or to another element with the focus. */
export function commandOf({ key, ctrlKey, altKey, metaKey, isComposing }: Pressed): Command | undefined {
  return ctrlKey || altKey || metaKey || isComposing ? undefined : COMMANDS.get(key);
}

/** Where moving leads from one of the ids; it stays at the ends. */
export function moved(ids: readonly number[], from: number, command: Command): number {
  const place = ids.indexOf(from);
  const steps: Partial<Record<Command, number>> = {
    next: place + 1,
    previous: place - 1,
    first: 0,
    last: ids.length - 1,
  };
  const step = steps[command] ?? place;
  return ids[Math.min(Math.max(step, 0), ids.length - 1)] ?? from;
}

/** Which is next once one of the ids has been dealt with: the one after it, else the one before; undefined if it was the only one. */
export function nextAfter(ids: readonly number[], done: number): number | undefined {
  const place = ids.indexOf(done);
  const rest = ids.filter((id) => id !== done);
  return rest[Math.min(Math.max(place, 0), rest.length - 1)];
}

/** The names that several of them ask for, with how many do. */
export function sharedNames(names: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return new Map([...counts].filter(([, count]) => count > 1));
}
