/** Something that a client can ask an account's sshd for, whether a profile allows it, and whether it happened. */

import type { HostProfile } from "../../../protocol/profile.ts";
import type { Door } from "./client.ts";

/** What a client is tried against. */
export interface Trial {
  readonly door: Door;
  /** The clients' configuration file. */
  readonly config: string;
  readonly profile: HostProfile;
  readonly uid: number;
  /** Where the account's files are to be, as its clients say it; ends with a slash, or is empty for where they begin. */
  readonly place: string;
  /** The same place, as this machine says it. */
  readonly placeHere: string;
}

/** What happened; or why it could not be tried here. */
export type Seen = "happened" | "refused" | { readonly untried: string };

export interface Deed {
  readonly name: string;
  /** Whether the profile allows it; undefined where that is not the profile's affair. */
  readonly may: (profile: HostProfile) => boolean | undefined;
  readonly tries: (trial: Trial) => Promise<Seen>;
}

export const happened = (did: boolean): Seen => (did ? "happened" : "refused");

/** Printed by a shell that ran it, and by nothing that repeats it. */
export const SAYS_42 = "echo uam-$((40+2))";
export const SAID_42 = /^uam-42\b/m;

export const runsCommands = ({ kind }: HostProfile): boolean => kind === "shell";
export const readsFiles = ({ kind }: HostProfile): boolean => kind === "shell" || kind === "sftp";
export const writesFiles = (profile: HostProfile): boolean => readsFiles(profile) && profile.readOnly !== true;
/** Connections to wherever they like. */
export const forwardsAll = ({ kind, forwarding }: HostProfile): boolean => kind === "shell" && forwarding === true;
/** The targets to which alone connections are let. */
export function targetsOf({ kind, forwarding, targets }: HostProfile): readonly string[] {
  if (kind === "forward") return targets ?? [];
  return kind === "shell" && typeof forwarding === "object" ? forwarding : [];
}
export const never = (): boolean => false;
