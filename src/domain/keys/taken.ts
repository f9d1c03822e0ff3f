/** What whoever uploads a key that is active already is told. */

import { UamError } from "../../shared/errors.ts";

/** `conflict`, with whom to ask: the holder may be anybody who had the public half, and is not named. */
export function fingerprintTaken(fingerprint: string, site: { readonly contact?: string | undefined }): UamError {
  const contact = site.contact ?? "";
  const isAddress = /^\S+@\S+$/.test(contact);
  const whom = contact === "" ? "Ask the administrators of this host." : isAddress ? `Write to ${contact}.` : contact;
  return new UamError(
    "conflict",
    `A key with the fingerprint ${fingerprint} is active on this host already. Is it yours, and you did not add it? ${whom}`,
  );
}
