/** What administrators are mailed about the host. Pure; all values may come from strangers and cannot break out of their line. */

import { fact, type Letter, letter, line, paragraph } from "./letter.ts";
import type { Site } from "./messages.ts";

/** To administrators: access was taken away, and something of it could not be done yet. */
export function accessOwed(
  site: Site,
  { username, owed }: { readonly username: string; readonly owed: readonly string[] },
): Letter {
  return letter(`Not finished on ${site.host}: taking away the access of ${line(username)}`, [
    paragraph(`the access of ${line(username)} was taken away on ${site.host}, but not all of it could be done:`),
    ...owed.map((sentence) => fact("Left to do", line(sentence))),
    paragraph(
      'It is tried again until it is done, and nothing opens the account meanwhile. "uam doctor" says how it stands.',
    ),
  ]);
}

/** To administrators: an account's key file held a key that nobody uploaded. */
export function keyCameBack(
  site: Site,
  { username, disabled }: { readonly username: string; readonly disabled: boolean },
): Letter {
  return letter(`A key that is not stored was found for ${line(username)} on ${site.host}`, [
    paragraph(
      `the authorized-keys file of ${line(username)} on ${site.host} held a key that is not stored: someone with access to the account put it there. The file was set right, sessions that no stored key is proven to have opened were ended, and crontab, at jobs and lingering were removed.`,
    ),
    ...(disabled
      ? [paragraph("It happened for the third time within an hour, so the user is disabled.")]
      : [paragraph("If it happens three times within an hour, the user is disabled.")]),
  ]);
}
