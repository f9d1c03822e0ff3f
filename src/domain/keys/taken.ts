/** The message for a user who uploads a key that is already active. */

import { UamError } from "../../shared/errors.ts";

/** `conflict`, naming the contact: the holder may be anybody who had the public half, and is not named. */
export function fingerprintTaken(fingerprint: string, site: { readonly contact?: string | undefined }): UamError {
  const contact = site.contact ?? "";
  const isAddress = /^\S+@\S+$/.test(contact);
  const whom = contact === "" ? "Ask the administrators of this host." : isAddress ? `Write to ${contact}.` : contact;
  return new UamError(
    "conflict",
    `A key with the fingerprint ${fingerprint} is already active on this host. Is it yours, but you did not add it? ${whom}`,
    { reason: "key.duplicate" },
  );
}
