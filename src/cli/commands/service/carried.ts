/** What the binary contains of others' programs; `bun run build` replaces this module, a run from source contains nothing. */

export interface Carried {
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly cpe?: string;
  readonly hashes: readonly { readonly alg: string; readonly content: string }[];
}

export const carriedComponents: readonly Carried[] = [];
