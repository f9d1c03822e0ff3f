/** The progress on further hosts of a change that takes access away, as a sentence. */

import { confirmedTexts } from "../texts/hosts-confirmed.ts";
import { clockTime } from "./clock.ts";

/** The answer to such a change if the user has further hosts. */
interface HostsAnswer {
  readonly total: number;
  readonly confirmed: number;
  readonly pending: readonly string[];
  readonly effective_by: string | null;
}

/** The sentence of an answer, which has `hosts` only where further hosts are concerned; "" where none is. */
export function hostsSentence(answer: object): string {
  const { hosts } = answer as { readonly hosts?: HostsAnswer };
  if (hosts === undefined || hosts.total === 0) return "";
  const { total, confirmed, pending, effective_by: by } = hosts;
  if (confirmed >= total) return confirmedTexts.everywhere;
  return confirmedTexts.some({ total, confirmed, pending, by: by === null ? undefined : clockTime(by) });
}

/** The sentence about a change, followed by the hosts on which it has taken effect. */
export function withHosts(sentence: string, answer: object): string {
  return `${sentence} ${hostsSentence(answer)}`.trimEnd();
}
