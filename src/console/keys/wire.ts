/** Reads the wire format of SSH public keys (RFC 4253 section 6.6, RFC 5656, RFC 8709, OpenSSH PROTOCOL.u2f). */

import {
  curveName,
  FIELDS,
  type FieldKind,
  type KeyType,
  MAX_INTEGER,
  MLDSA44_ED25519_BYTES,
} from "../../shared/product/ssh-key-types.ts";
import { latin1 } from "./bytes.ts";
import type { Fault } from "./fault.ts";

/** The type name that stands first in the blob; undefined if the blob ends before it does. */
export function innerName(blob: Uint8Array): string | undefined {
  const name = takeString(blob, 0);
  return name === undefined ? undefined : latin1(name);
}

/** The fields of the key of that type in `blob`, whose inner name is not looked at; or what is wrong with its form. */
export function readFields(type: KeyType, blob: Uint8Array): readonly Uint8Array[] | Fault {
  const inner = takeString(blob, 0);
  if (inner === undefined) return { kind: "cut-off", part: "type" };
  const fields: Uint8Array[] = [];
  let offset = 4 + inner.length;
  let isPadded = false;
  for (const part of FIELDS[type]) {
    const raw = takeString(blob, offset);
    if (raw === undefined) return { kind: "cut-off", part };
    const fault = faultOf(part, type, raw);
    if (fault?.kind === "not-canonical") isPadded = true;
    else if (fault !== undefined) return fault;
    fields.push(raw);
    offset += 4 + raw.length;
  }
  if (offset < blob.length) return { kind: "trailing", bytes: blob.length - offset };
  return isPadded ? { kind: "not-canonical" } : fields;
}

function faultOf(part: FieldKind, type: KeyType, raw: Uint8Array): Fault | undefined {
  const isPadded = raw.at(-1) === 0;
  const [first = 0, second = 0] = raw;
  switch (part) {
    case "integer":
      if (first >= 0x80) return { kind: "negative" };
      if (raw.length > MAX_INTEGER) return { kind: "oversized" };
      // A zero byte belongs only in front of what would be negative without it.
      return raw.length > 0 && first === 0 && second < 0x80 ? { kind: "not-canonical" } : undefined;
    case "ed25519":
      return raw.length === 32 ? undefined : { kind: "ed25519-length", bytes: raw.length };
    case "mldsa44-ed25519":
      return raw.length === MLDSA44_ED25519_BYTES ? undefined : { kind: "mldsa44-ed25519-length", bytes: raw.length };
    case "curve":
      if (latin1(raw).replace(/\0$/, "") !== curveName(type)) return { kind: "curve", type };
      return isPadded ? { kind: "not-canonical" } : undefined;
    case "point":
      return first === 4 ? undefined : { kind: "form-of-point" };
    case "application":
      if (latin1(raw).replace(/\0$/, "").includes("\0")) return { kind: "nul-in-application" };
      return isPadded ? { kind: "not-canonical" } : undefined;
    default:
      return undefined;
  }
}

/** The length-prefixed string at `offset`, or undefined if the blob ends before it does. */
function takeString(blob: Uint8Array, offset: number): Uint8Array | undefined {
  if (offset + 4 > blob.length) return undefined;
  const end = offset + 4 + new DataView(blob.buffer, blob.byteOffset).getUint32(offset);
  return end > blob.length ? undefined : blob.subarray(offset + 4, end);
}
