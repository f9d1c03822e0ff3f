/** The effect of a change, without making it. */

export interface Preview {
  /** Short sentences for a person. */
  readonly effects: readonly string[];
  /** The changes on the host, as a dry run logs them. */
  readonly host: readonly string[];
}
