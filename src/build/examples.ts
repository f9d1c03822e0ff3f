/** Examples of the command line, for the manual page and docs/cli.md. A test runs them all, in this order. */

export interface Example {
  readonly does: string;
  readonly command: string;
}

/** Each works after the previous ones, on a host where the service is in dry-run mode or manages the accounts. */
export const EXAMPLES: readonly Example[] = [
  { does: "An account for 30 days", command: "uam user create alice --email alice@example.org --ttl-days 30" },
  { does: "Who has access", command: "uam user list --status active" },
  { does: "Everybody, for a spreadsheet", command: "uam user export --output users.csv" },
  { does: "A login code, for a user whose mail does not arrive", command: "uam otp alice" },
  { does: "Two more weeks", command: "uam user extend alice --days 14" },
  {
    does: "Two more weeks for everybody whom a search finds",
    command: "uam user extend --search alice --days 14 --yes",
  },
  { does: "End access, and give it again", command: "uam user disable alice && uam user enable alice" },
  { does: "What was done in the last week, as JSON", command: "uam audit list --since 7d --json" },
  {
    does: "The whole year 2026 as CSV",
    command: "uam audit export --since 2026-01-01 --until 2026-12-31 --output audit.csv",
  },
  { does: "Who could log in at the end of June 2026", command: "uam access --at 2026-06-30" },
  { does: "New accounts last 60 days by default", command: "uam setting set policy.default_ttl 60d" },
  { does: "Who may use the API without a password", command: "uam token list" },
  { does: "Whether the host matches what is stored", command: "uam reconcile --check" },
  { does: "An emergency: shut the account now, even without a database", command: "uam lock alice" },
  { does: "Remove the account, its home and its keys", command: "uam user delete alice --yes" },
];
