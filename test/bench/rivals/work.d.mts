/** A read as a rival does it. */
export interface Read {
  readonly for: "user" | "admin";
  /** Of the statement, where there is one. */
  readonly name?: string;
  readonly text?: string;
  readonly values?: (session: Row) => readonly unknown[];
  readonly answer: (session: Row, rows: readonly Row[]) => object;
}

export type Row = Readonly<Record<string, unknown>>;

export declare const SESSION: string;
export declare const READS: Readonly<Record<"/auth/me" | "/me/keys" | "/users" | "/audit", Read>>;
export declare function sessionValues(cookie: string | null | undefined): [Uint8Array, string];
