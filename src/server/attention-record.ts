/** What needs somebody, as the API shows it. */

import type { Attention } from "../domain/stats/attention.ts";
import { formatTimestamp } from "../shared/time/timestamp.ts";
import { awayRecord } from "./event-records.ts";

/** `problems` is how much of it there is besides requests and reviews. */
export function attentionRecord(attention: Attention) {
  const { requests, incidents, owed, hosts, receivers, sponsors, reviews, mail, backup } = attention;
  return {
    requests,
    problems: incidents.total + owed + hosts + receivers.length + sponsors.length + (mail ? 1 : 0) + (backup ? 1 : 0),
    incidents: {
      total: incidents.total,
      items: incidents.items.map(({ userId, username, at }) => ({
        ...{ user_id: userId, username, at: formatTimestamp(at) },
      })),
    },
    ...{ owed, hosts },
    receivers: receivers.map(awayRecord),
    sponsors: sponsors.map(({ since, ...sponsor }) => ({ ...sponsor, since: formatTimestamp(since) })),
    reviews: reviews.map(({ id, dueAt, waiting }) => ({ id, due_at: formatTimestamp(dueAt), waiting })),
    mail: mail === undefined ? null : { ...mail, since: formatTimestamp(mail.since) },
    mail_unsent: attention.mailUnsent,
    backup: backup === undefined ? null : { ...backup, at: formatTimestamp(backup.at) },
  };
}
