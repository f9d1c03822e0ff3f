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

/** The sentence; "" where no further host is concerned. */
export function hostsSentence({ hosts }: { readonly hosts?: HostsAnswer | undefined }): string {
  if (hosts === undefined || hosts.total === 0) return "";
  const { total, confirmed, pending, effective_by: by } = hosts;
  if (confirmed >= total) return confirmedTexts.everywhere;
  return confirmedTexts.some({ total, confirmed, pending, by: by === null ? undefined : clockTime(by) });
}

/** What was done, and where that is true by now. */
export function withHosts(sentence: string, answer: { readonly hosts?: HostsAnswer | undefined }): string {
  return `${sentence} ${hostsSentence(answer)}`.trimEnd();
}
