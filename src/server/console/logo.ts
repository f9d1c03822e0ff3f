/** The logo of who offers the service: a picture that the pages show, read from a file of the host's administrators. */

import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { UamError } from "../../shared/errors.ts";
import { ASSET_ROOT } from "./bundle.ts";

/** A picture, ready to be handed out. */
export interface Logo {
  /** Where the pages find it: the name changes with the content. */
  readonly path: string;
  readonly type: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** In bytes: each visitor loads it. */
const LARGEST = 64 * 1024;

interface Kind {
  readonly ending: string;
  readonly type: string;
  /** What such a file has at which place. */
  readonly marks: readonly (readonly [number, string])[];
}

/** Pictures that are nothing but pictures. An SVG may carry scripts and links, and is none. */
const KINDS: readonly Kind[] = [
  { ending: "png", type: "image/png", marks: [[0, "\x89PNG\r\n\x1a\n"]] },
  {
    ending: "webp",
    type: "image/webp",
    marks: [
      [0, "RIFF"],
      [8, "WEBP"],
    ],
  },
];

/** Reads the file. Throws `invalid` with what is wrong with it: its content, not its name, says what it is. */
export function readLogo(file: string): Logo {
  const bytes = contentOf(file);
  const text = Buffer.from(bytes.subarray(0, 16)).toString("latin1");
  const kind = KINDS.find(({ marks }) => marks.every(([at, mark]) => text.startsWith(mark, at)));
  if (kind === undefined) throw new UamError("invalid", `${file} is neither a PNG nor a WebP picture`);
  const hash = createHash("sha256").update(bytes).digest("hex").slice(0, 16);
  return { path: `${ASSET_ROOT}/logo-${hash}.${kind.ending}`, type: kind.type, bytes };
}

function contentOf(file: string): Uint8Array<ArrayBuffer> {
  try {
    const about = statSync(file);
    // Anything else, such as a pipe, could keep the service from starting.
    if (!about.isFile()) throw new UamError("invalid", `${file} is not a file`);
    if (about.size > LARGEST) {
      throw new UamError("invalid", `${file} has ${about.size} bytes; a logo has at most ${LARGEST}`);
    }
    return new Uint8Array(readFileSync(file));
  } catch (cause) {
    if (cause instanceof UamError) throw cause;
    throw new UamError("invalid", `${file} cannot be read`, { cause });
  }
}
