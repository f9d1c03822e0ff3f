/** What is known of a user's access, for whoever answers for it. */

import { type ComponentChildren, Fragment } from "preact";
import { reviewTexts } from "../../texts/admin/reviews.ts";
import { networkTexts } from "../../texts/networks.ts";
import { Time } from "../../ui/time.tsx";
import { Typed } from "../../ui/typed.tsx";
import type { Item } from "./record.ts";

const { facts: texts } = reviewTexts;

type Evidence = NonNullable<Item["evidence"]>;

/** What there is of it, as rows of a name and a value. */
export function EvidenceFacts({ evidence }: { readonly evidence: Evidence }) {
  const { keys, drift, source_networks: from } = evidence;
  const rows: Readonly<Record<string, ComponentChildren>> = {
    [texts.name]: typed([evidence.full_name, evidence.email]),
    [texts.company]: typed([evidence.company]),
    [texts.purpose]: typed([evidence.purpose]),
    [texts.ends]: <Time at={evidence.expire_at} isEnd />,
    [texts.hosts]: typed([...evidence.groups, ...evidence.hosts]),
    [texts.from]: from.length === 0 ? networkTexts.anywhere : typed(from),
    [texts.hours]: typed([evidence.hours ?? ""]),
    [texts.profile]: typed([evidence.profile ?? ""]),
    [texts.keys]: keys.length === 0 ? texts.noKeys : keys.map((key) => <Key key={key.fingerprint} {...key} />),
    [texts.logins]: (
      <>
        {evidence.logins}
        {moment(texts.last, evidence.last_login_at, "")}
      </>
    ),
    [texts.created]: moment("", evidence.created_at, evidence.created_by),
    [texts.extended]: moment("", evidence.extended_at, evidence.extended_by, evidence.extended_because),
    [texts.drift]: drift.length === 0 ? null : <span class="warned">{typed(drift)}</span>,
  };
  return (
    <dl class="facts wide">
      {Object.entries(rows).map(([name, value]) =>
        value === null ? null : (
          <Fragment key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </Fragment>
        ),
      )}
    </dl>
  );
}

function Key({ name, last_used_at: at, last_used_from: from }: Evidence["keys"][number]) {
  return (
    <div>
      <Typed text={name} />: {at === null ? texts.noUse : moment(texts.used, at, "", from)}
    </div>
  );
}

/** The texts that there are; null for none. */
function typed(texts: readonly string[]) {
  const text = texts.filter(Boolean).join(", ");
  return text === "" ? null : <Typed text={text} />;
}

/** When, by whom, and why or from where; null for never. */
function moment(what: string, at: string | null, by: string, more = "") {
  if (at === null) return null;
  return (
    <>
      {what} <Time at={at} both /> {by === "" ? null : texts.by} {typed([by, more])}
    </>
  );
}
