/** Mails to administrators about the host. Pure, like messages.ts. */

import type { Site } from "../operation/context.ts";
import { code, fact, type Letter, letter, line, paragraph } from "./letter.ts";
import { toUser } from "./links.ts";
import { accountName } from "./phrases.ts";

interface Owed {
  readonly id: number;
  readonly username: string;
  readonly owed: readonly string[];
}

/** To administrators: access was taken away, but part of that could not be done yet. */
export function accessOwed(site: Site, facts: Owed): Letter {
  const name = line(facts.username);
  return stillOwed(site, facts, {
    subject: `taking away the access of ${name} is not finished`,
    what: `The access of ${name} to ${site.host} was taken away, but part of that could not be done.`,
  });
}

/** To administrators: a user may log in from fewer networks, but the host does not refuse all others yet. */
export function narrowingOwed(site: Site, facts: Owed): Letter {
  const name = line(facts.username);
  return stillOwed(site, facts, {
    subject: `narrowing from where ${name} may log in is not finished`,
    what: `${name} may log in to ${site.host} from fewer networks than before, but part of that could not be done.`,
  });
}

/** To administrators: a user's access ends sooner, but the host may still let them in after that. */
export function shorteningOwed(site: Site, facts: Owed): Letter {
  const name = line(facts.username);
  return stillOwed(site, facts, {
    subject: `bringing forward the end of ${name} is not finished`,
    what: `The access of ${name} to ${site.host} is to end sooner than before, but part of that could not be done. It ends then in any case, if the service is running.`,
  });
}

/** To administrators: a user may do less than before, but part of what they have open may still go on. */
export function profileOwed(site: Site, facts: Owed): Letter {
  const name = line(facts.username);
  return stillOwed(site, facts, {
    subject: `narrowing what ${name} may do is not finished`,
    what: `${name} may do less on ${site.host} than before, but part of that could not be done.`,
  });
}

function stillOwed(
  site: Site,
  { id, username, owed }: Owed,
  { subject, what }: { readonly subject: string; readonly what: string },
): Letter {
  return letter(`${site.host}: ${subject}`, [
    paragraph(what),
    fact("Account", accountName({ username })),
    ...owed.map((sentence) => fact("Left to do", sentence)),
    paragraph(
      "The service keeps trying until it is done, and nothing gives the access back meanwhile. There will be no further mail about it; to see what is left:",
    ),
    code("uam doctor"),
    ...(site.console ? [toUser(site, id)] : []),
  ]);
}

/** To administrators: an account's key file held a key that nobody uploaded. */
export function keyCameBack(
  site: Site,
  { id, username, disabled }: { readonly id: number; readonly username: string; readonly disabled: boolean },
): Letter {
  return letter(`${site.host}: a key that is not stored was found for ${line(username)}`, [
    paragraph(
      `The authorized-keys file of ${accountName({ username })} on ${site.host} held a key that is not stored. Somebody with access to the account put it there.`,
    ),
    paragraph(
      "The file was repaired. Sessions that no stored key is proven to have opened were ended, and crontab, at jobs and lingering were removed.",
    ),
    paragraph(
      disabled
        ? "It was the third time within an hour, so the user is disabled now. To give the access back, once you know what happened:"
        : "The third time within an hour disables the user. To shut the account now:",
    ),
    code(`uam user ${disabled ? "enable" : "disable"} ${line(username)}`),
    ...(site.console ? [toUser(site, id)] : []),
    paragraph("What was found and done is in the audit log, under reconcile.repair."),
  ]);
}
