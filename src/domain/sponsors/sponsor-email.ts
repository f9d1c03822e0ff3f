/** Who answers for a user: the rules for a sponsor's address, and whose counts. */

import { UamError } from "../../shared/errors.ts";
import { parseEmail } from "../accounts/username.ts";
import { mailboxOf } from "../mail/mailbox.ts";
import type { SponsorPolicy } from "../operation/context.ts";

/** A person and the address that is given for their sponsor. */
export interface GivenSponsor {
  readonly sponsorEmail?: string | undefined;
  /** The person's own address, which cannot be their sponsor's; absent for a company. */
  readonly email?: string | undefined;
}

/**
 * The sponsor's address in lower case, or "" for none. Throws `invalid` for one that is no address, is the person's own, has another domain than
 * sponsors may have, or is named although sponsors are off.
 */
export function parseSponsor(policy: SponsorPolicy, { sponsorEmail = "", email }: GivenSponsor): string {
  if (sponsorEmail.trim() === "") return "";
  if (policy.mode === "off") throw refused("This service has no sponsors: leave sponsor_email empty");
  const sponsor = parseEmail(sponsorEmail).toLowerCase();
  if (email !== undefined && isOwn(email, sponsor)) throw refused("Nobody is their own sponsor: name somebody else");
  if (policy.domains.length > 0 && !policy.domains.some((domain) => isIn(domain, sponsor))) {
    throw refused(`A sponsor's address must be at ${policy.domains.join(" or ")}`);
  }
  return sponsor;
}

/** The user's own sponsor, else their company's, else ""; nobody answers for themselves. */
export function sponsorOf(
  user: { readonly sponsorEmail: string; readonly email: string },
  company: { readonly sponsorEmail: string } | undefined,
): string {
  const sponsor = user.sponsorEmail === "" ? (company?.sponsorEmail ?? "").toLowerCase() : user.sponsorEmail;
  return sponsor !== "" && isOwn(user.email, sponsor) ? "" : sponsor;
}

/** Throws `conflict` if a sponsor is required and there is none. */
export function requireSponsor({ mode }: SponsorPolicy, sponsor: string): void {
  if (mode !== "required" || sponsor !== "") return;
  const sentence = "Everybody here needs a sponsor who answers for them: send sponsor_email";
  throw new UamError("conflict", sentence, { reason: "sponsor.missing" });
}

/** Whether both addresses lead to one mailbox. */
export function isOwn(email: string, sponsor: string): boolean {
  return mailboxOf(email) === mailboxOf(sponsor);
}

/** A domain that begins with a dot has subdomains only. */
function isIn(domain: string, address: string): boolean {
  const at = address.slice(address.lastIndexOf("@") + 1);
  return domain.startsWith(".") ? at.endsWith(domain) && at.length > domain.length : at === domain;
}

function refused(sentence: string): UamError {
  return new UamError("invalid", sentence, { reason: "sponsor.invalid" });
}
