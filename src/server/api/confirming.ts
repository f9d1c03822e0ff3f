/** For the document: what routes say that ask again who one is. */

import { CONFIRMING } from "../../contract/confirmation.ts";

export { CONFIRMED } from "../../contract/confirmation.ts";

/** What the refusals mean. */
export const confirming = { 401: { description: CONFIRMING[401] }, 403: { description: CONFIRMING[403] } };
