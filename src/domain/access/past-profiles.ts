/** What profiles allowed at a moment of the past, told from audit records alone. */

import type { AuditAction } from "../../shared/product/audit-actions.ts";
import { boundWords } from "../../shared/text/profile-sentence.ts";
import { type Detail, textOf } from "./record-detail.ts";

interface PastProfile {
  /** What it allows, in words. */
  means: string;
  secondFactor: string;
  attestation: string;
}

const NOTHING: Readonly<PastProfile> = { means: "", secondFactor: "", attestation: "" };

/** Follows what the log says of profiles, the oldest record first. A profile keeps its name, and is deleted only when nobody has it. */
export class PastProfiles {
  readonly #profiles = new Map<string, PastProfile>();

  /** The actions that it learns from. */
  static readonly ACTIONS: readonly AuditAction[] = ["profile.create", "profile.update"];

  /** Takes a record of success. */
  apply(detail: Detail): void {
    const name = textOf(detail, "name");
    const known = this.#profiles.get(name) ?? { ...NOTHING };
    this.#profiles.set(name, known);
    if (typeof detail.means === "string") known.means = detail.means;
    if (typeof detail.second_factor === "string") known.secondFactor = detail.second_factor;
    if (typeof detail.attestation === "string") known.attestation = detail.attestation;
  }

  /** In words, of a profile that somebody has themselves or, with the group's name, by a group; empty for none. */
  words(name: string, group?: string): string {
    if (name === "") return "";
    return boundWords({ name, ...(this.#profiles.get(name) ?? NOTHING) }, group);
  }
}
