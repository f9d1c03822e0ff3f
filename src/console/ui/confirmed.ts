/** What a change that takes access away has come to on further hosts, as a sentence. */

import { confirmedTexts } from "../texts/hosts-confirmed.ts";
import { clockTime } from "./clock.ts";

/** What such a change answers where the user has further hosts. */
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

/** What was done, and where that is true by now. */
export function withHosts(sentence: string, answer: object): string {
  return `${sentence} ${hostsSentence(answer)}`.trimEnd();
}
