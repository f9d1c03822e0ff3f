/** Moments in sentences that the service wrote. */

import { moment } from "../../ui/clock.ts";

/** The two ways in which the service's sentences name a moment: the command line shows them, too, and stays with UTC. */
const TOLD = /\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d\.\d{3}Z| \d\d:\d\d UTC)/g;

/** The sentence with its moments as the rest of the page writes them, in the reader's time zone; what is no moment stays. */
export function toldTimes(sentence: string): string {
  return sentence.replace(TOLD, (told) => {
    const time = told.replace(" UTC", "Z").replace(" ", "T");
    return Number.isNaN(Date.parse(time)) ? told : moment(time);
  });
}
