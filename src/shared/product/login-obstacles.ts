/** Why somebody cannot log in by SSH, as names that programs can rely on. */

/** What the host itself shows. */
export const HOST_OBSTACLES = {
  account_missing: "The account is missing on the host.",
  account_foreign: "An account of that name or uid is not this service's, or its home is another one.",
  account_locked: "The account's own expiry date is past, or its password or its ageing refuses logins.",
  account_group: "Somebody took the account out of the service's group.",
  key_file: "The authorized-keys file differs from the stored keys, or sshd does not read it.",
  key_type: "The host's sshd, or a profile, accepts no keys of that type or size.",
  shell: "The account's shell is missing, or only says no.",
  home: "The home directory is missing, or sshd refuses key files in it.",
  sshd: "sshd's configuration keeps the account out.",
  nologin: "/etc/nologin keeps everybody out.",
  unchecked: "Something could not be looked at.",
} as const;

/** All of them. */
export const LOGIN_OBSTACLES = {
  disabled: "The user is disabled.",
  expired: "The user's time is up.",
  deleting: "The user is being deleted.",
  closing: "Access is being taken away.",
  not_yet: "The user's start has not come.",
  outside_hours: "It is outside the user's hours, their company's, or those of a host's groups.",
  on_request: "The user has to ask for access first.",
  no_keys: "The user has no active key.",
  networks: "Keys may be used only from some networks, or from none.",
  no_host: "The user has an account on no host.",
  dry_run: "The service changes nothing on its host.",
  host_pending: "A host has not confirmed the newest change yet.",
  host_open: "A host that has not confirmed that access was taken away may still let the user in.",
  host_problem: "A host is locked, shut or silent, or could not apply a change.",
  ...HOST_OBSTACLES,
} as const;

export type HostObstacle = keyof typeof HOST_OBSTACLES;
export type LoginObstacle = keyof typeof LOGIN_OBSTACLES;
export const LOGIN_OBSTACLE_NAMES = Object.keys(LOGIN_OBSTACLES) as readonly LoginObstacle[];
