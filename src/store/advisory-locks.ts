/** Every advisory lock that the program takes in the database, so that no two uses share a number. */

/**
 * The numbers mean nothing, but must stay: instances of two versions may work on one database. Those marked "of two" are
 * the first half of a lock of two numbers, a space of its own in PostgreSQL; the others are locks by themselves.
 */
export const LOCKS = {
  /** Migrating; shared by work that must not run during a migration, such as a backup. */
  migration: 8_246_001,
  /** Of two: an account that is being created; the other is its uid. */
  accountIntent: 8_246_002,
  /** Reading the stored heartbeat and writing it again. */
  heartbeat: 8_246_003,
  /** Of two: a job that one instance at a time does; the other is the hash of its name. */
  job: 8_246_004,
  /** Removing old audit records. */
  auditRetention: 8_246_005,
  /** Recording the entries of `uam lock`. */
  lockImport: 8_246_006,
  /** Changing, or rereading, the holds of settings. */
  settings: 8_246_007,
  /** Single sign-on: a login, or ending sessions on the provider's word, one at a time. */
  singleSignOn: 8_246_011,
  /** Of two: whether locks work at all is tried with it; the other is the process of the server. */
  trial: 8_246_020,
  /** Of two: an index that is being built; the other is the hash of its name. */
  index: 8_246_012,
  /** Of two: deliveries to a webhook, shared, and its removal; the other is its number. */
  delivery: 8_246_013,
  /** Of two: mail to an applicant, which is counted; the other is the hash of their mailbox. */
  applicantMail: 8_246_014,
  /** Of two: mail to a sponsor about applications, which is counted; the other is the hash of their mailbox. */
  sponsorMail: 8_246_016,
  /** Changing hosts, their groups, or the accounts of users on them. */
  fleet: 8_246_008,
  /** Storing a batch of imported users: two that hold the same names in another order would wait for each other. */
  userImport: 8_246_015,
} as const;
