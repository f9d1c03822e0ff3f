/** The names and places of profiles on a host. */

/** Accounts with a profile are in this group, whichever it is: sshd lets nobody in who is in it and in no profile's own. */
export const PROFILED_GROUP = "uam-profile";
const GROUP_PREFIX = "uam-p-";

/** The group of a profile's accounts. */
export function groupOf(profile: string): string {
  return `${GROUP_PREFIX}${profile}`;
}

/** Whether a group says something about profiles. */
export function isProfileGroup(group: string): boolean {
  return group === PROFILED_GROUP || group.startsWith(GROUP_PREFIX);
}

/** The programs that profiles may name: root's, and for everybody to start. */
export const COMMANDS_DIRECTORY = "/etc/uam-commands";

/** The places that profiles concern. */
export interface ProfilePaths {
  /** Ours: what sshd and sudo include. */
  readonly directory: string;
  /** The sudo templates that profiles may name. */
  readonly templates: string;
  /** The file with the groups that profiles may name, one a line. */
  readonly groups: string;
}

export const PROFILE_PATHS: ProfilePaths = {
  directory: "/etc/uam-profiles",
  templates: "/etc/uam/sudo.d",
  groups: "/etc/uam/profile-groups",
};

/** What sshd includes, of that directory. */
export function sshdFileIn(directory: string): string {
  return `${directory}/sshd.conf`;
}

/** What sudo includes of it, one file for each profile. */
export function sudoDirectoryIn(directory: string): string {
  return `${directory}/sudo.d`;
}
