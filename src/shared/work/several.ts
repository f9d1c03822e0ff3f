/** Works on a list, several items at the same time. */

/**
 * Works on each item, begun in their order, `atOnce` at the same time. Begins no other once `signal` is aborted, and resolves when what was
 * begun has ended. Rejects as soon as `work` does: whoever wants the others to go on catches within it.
 */
export async function severalAtOnce<T>(
  items: Iterable<T>,
  { atOnce, signal }: { readonly atOnce: number; readonly signal?: AbortSignal | undefined },
  work: (item: T) => Promise<void>,
): Promise<void> {
  // Shared, so that whoever is done takes the next one.
  const waiting = Iterator.from(items);
  const lane = async () => {
    for (const item of waiting) {
      if (signal?.aborted) return;
      await work(item);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
}
