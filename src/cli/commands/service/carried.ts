/** The components of the binary that others made. `bun run build` replaces this module; a run from source contains none. */

export interface Carried {
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly cpe?: string;
  readonly hashes: readonly { readonly alg: string; readonly content: string }[];
}

export const carriedComponents: readonly Carried[] = [];
