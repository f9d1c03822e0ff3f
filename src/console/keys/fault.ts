/** Why the service does not accept a text as a public key. */

import type { FieldKind } from "../../shared/product/ssh-key-types.ts";

/** One reason, with what a sentence about it has to name; the rules are those of the service. */
export type Fault =
  | { readonly kind: "private"; readonly format: PrivateFormat }
  | { readonly kind: "too-long"; readonly maximum: number }
  | { readonly kind: "public-pem" | "pem" | "control-characters" | "empty" | "options" | "not-a-key" | "dsa" }
  /** `keys`: how many of the lines look like a key. */
  | { readonly kind: "several-lines"; readonly keys: number }
  | { readonly kind: "no-data" | "base64" | "certificate"; readonly type: string }
  | { readonly kind: "type"; readonly type: string; readonly accepted: readonly string[] }
  | { readonly kind: "types-differ"; readonly type: string; readonly found: string | undefined }
  | { readonly kind: "cut-off"; readonly part: Part }
  | { readonly kind: "negative" | "oversized" | "form-of-point" | "nul-in-application" | "not-canonical" }
  | { readonly kind: "ed25519-length" | "mldsa44-ed25519-length"; readonly bytes: number }
  | { readonly kind: "curve"; readonly type: string }
  | { readonly kind: "trailing"; readonly bytes: number }
  | { readonly kind: "application-empty" | "application-text" }
  | { readonly kind: "rsa-short" | "rsa-long"; readonly bits: number; readonly limit: number }
  | { readonly kind: "rsa-even-modulus" | "rsa-even-exponent" | "rsa-large-exponent" }
  | { readonly kind: "rsa-small-exponent"; readonly exponent: bigint }
  | { readonly kind: "rsa-exponent-bits"; readonly bits: number };

/** The parts of a key that can be cut off. */
export type Part = "type" | FieldKind;

/** The program that made the private key, as far as its text shows. */
export type PrivateFormat = "openssh" | "putty" | "pem" | "ssh2" | "unknown";
