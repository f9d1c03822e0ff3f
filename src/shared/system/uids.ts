/** Ranges of user ids. */

/** Both included. */
export interface UidRange {
  readonly first: number;
  readonly last: number;
}

/** The earlier default of UAM_UID_RANGE: accounts from then keep their uids. */
export const OLD_UIDS: UidRange = { first: 20_000, last: 59_999 };

/** Of accounts that trials of profiles make and remove: between systemd's dynamic users and nobody, and never of a user's account. */
export const TRIAL_UIDS: UidRange = { first: 65_520, last: 65_532 };

export function isWithin(uid: number, { first, last }: UidRange): boolean {
  return uid >= first && uid <= last;
}

export function overlap(one: UidRange, other: UidRange): boolean {
  return one.first <= other.last && other.first <= one.last;
}
