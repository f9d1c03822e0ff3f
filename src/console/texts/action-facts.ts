/** The facts that sentences about audit records are made of. */

/** The facts of a record; texts are isolated, times are read in the reader's zone, and "" or 0 is what it does not say. */
export interface ActionFacts {
  /** Whom it is about, by name. */
  readonly name: string;
  readonly key: string;
  readonly fingerprint: string;
  readonly until: string;
  /** The end that `until` replaced. */
  readonly oldUntil: string;
  readonly days: number;
  readonly email: string;
  readonly role: string;
  /** Which fields were changed. */
  readonly changed: readonly string[];
  readonly value: string;
  readonly old: string;
  readonly effective: string;
  readonly setting: string;
  readonly approved: boolean | undefined;
  readonly channel: string;
  /** How somebody logged in. */
  readonly way: string;
  readonly found: string;
  readonly removed: number;
  /** Where a webhook goes. */
  readonly to: string;
  /** The new state of a webhook. */
  readonly status: string;
  /** The host that it is about, by name. */
  readonly host: string;
}
