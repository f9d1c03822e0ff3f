/** A handler for every route of the contract: one that is missing does not compile. */

import type { CONTRACT } from "../../../contract/contract.ts";
import type { Handlers } from "../call.ts";
import { settingHandlers } from "./settings.ts";
import { userHandlers } from "./users.ts";

export const HANDLERS: Handlers<typeof CONTRACT> = {
  ...settingHandlers,
  ...userHandlers,
};
