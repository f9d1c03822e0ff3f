/** Writing to the standard error, which may be a file on a full disk, or have a reader that is slow or gone. */

/**
 * A writer that never throws: neither may end the service, nor make a command fail that did its work. Text that finds no room is lost;
 * a line that was cut off is ended before the next one, so that it spoils no other. `write` returns how many bytes it took.
 */
export function createErrorWriter(write: (bytes: Uint8Array) => number): (text: string) => void {
  let isTorn = false;
  return (text) => {
    const bytes = Buffer.from(isTorn ? `\n${text}` : text);
    try {
      const taken = write(bytes);
      if (taken > 0) isTorn = taken < bytes.length && bytes[taken - 1] !== NEWLINE;
    } catch {
      // There is nowhere left to report it.
    }
  };
}

const NEWLINE = 0x0a;
