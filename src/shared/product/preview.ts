/** What a change would do, told without doing it. */

export interface Preview {
  /** Short sentences for a person. */
  readonly effects: readonly string[];
  /** What would change on the host, as a dry run logs it. */
  readonly host: readonly string[];
}
