/** On which hosts a change is true, once the service has answered. */

import { inLanguage, number } from "./language.ts";

/** Names in a sentence. */
const MOST = 3;

export interface Confirmed {
  readonly confirmed: number;
  readonly total: number;
  /** The hosts that have not confirmed it, by name; there may be more of them. */
  readonly pending: readonly string[];
  /** From when on it is true on these as well; undefined where nobody knows. */
  readonly by: string | undefined;
}

const en = {
  everywhere: "It is true on every host.",
  some: ({ confirmed, total, pending, by }: Confirmed) =>
    `True on ${number(confirmed)} of ${number(total)} further ${total === 1 ? "host" : "hosts"}; on ${listed(pending, total - confirmed)} ${
      by === undefined ? "only once it answers, for want of a lease." : `by ${by} at the latest.`
    }`,
};

export const confirmedTexts = inLanguage({ en });

function listed(names: readonly string[], total: number): string {
  const shown = names.slice(0, total > MOST + 1 ? MOST : MOST + 1);
  const more = total - shown.length;
  const parts = more > 0 ? [...shown, `${number(more)} others`] : shown;
  return parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
}
