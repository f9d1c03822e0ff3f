/** When access ends or ended, and what then: to be seen without reading, by colour, shape and size, and in words. */

import { Contact } from "../../../contact.tsx";
import { userTexts } from "../../../texts/user/user.ts";
import { endMoment, relative, useNow } from "../../../ui/clock.ts";
import { Status } from "../../../ui/status.tsx";
import type { OwnAccount } from "../own-account.ts";
import { urgencyOf } from "./urgency.ts";

export function End({ own }: { readonly own: OwnAccount }) {
  const { overview } = userTexts;
  const { ends } = own;
  const present = useNow();
  const urgency = urgencyOf(own, present);
  const words = relative(Date.parse(ends.at), present);
  // Between the end itself and the next answer of the service.
  const reason = ends.reason === "expiry" && urgency === "over" ? "expired" : ends.reason;
  const title = { expiry: overview.ends, expired: overview.ended, disabled: overview.disabled }[reason](words);
  return (
    <section class={`card end ${urgency}`}>
      <div class="actions">
        <h2>{title}</h2>
        {urgency === "soon" ? <span class="status pending">{overview.soon}</span> : <Status value={own.status} />}
      </div>
      <p class="lead">
        <time dateTime={ends.at}>{endMoment(ends.at)}</time>
      </p>
      <p>{overview.what[reason]}</p>
      {own.status === "active" ? null : <p>{userTexts.standing.overview[own.status]}</p>}
      <p>
        {overview.removed} <time dateTime={ends.removed_at}>{endMoment(ends.removed_at)}</time> (
        {relative(Date.parse(ends.removed_at), present)})
      </p>
      <p>
        {overview.contact} <Contact contact={own.contact} />
      </p>
    </section>
  );
}
