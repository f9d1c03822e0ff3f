import { describe, expect, test } from "bun:test";
import { createErrorWriter } from "../../src/runtime/standard-error.ts";

/** A disk with so much room. */
function disk(room: number) {
  let text = "";
  return {
    text: () => text,
    makeRoom: (more: number) => {
      room += more;
    },
    write: (bytes: Uint8Array): number => {
      if (room === 0) throw new Error("ENOSPC");
      const taken = Math.min(room, bytes.length);
      text += Buffer.from(bytes.subarray(0, taken)).toString();
      room -= taken;
      return taken;
    },
  };
}

describe("createErrorWriter()", () => {
  test("loses what finds no room, and ends a line that was cut off before the next one", () => {
    const { write, text, makeRoom } = disk(9);
    const err = createErrorWriter(write);
    for (const line of ["first\n", "second\n", "third\n"]) err(line);
    expect(text()).toBe("first\nsec");
    makeRoom(20);
    err("fourth\n");
    err("fifth\n");
    expect(text()).toBe("first\nsec\nfourth\nfifth\n");
  });

  test("adds nothing where a line ended with the room", () => {
    const { write, text, makeRoom } = disk(6);
    const err = createErrorWriter(write);
    err("first\nsecond\n");
    makeRoom(20);
    err("third\n");
    expect(text()).toBe("first\nthird\n");
  });

  test("leaves a question without a line's end as it is", () => {
    const { write, text } = disk(100);
    const err = createErrorWriter(write);
    err("Sure? ");
    err("yes\n");
    expect(text()).toBe("Sure? yes\n");
  });
});
