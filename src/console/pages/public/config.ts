/** What the pages without a session need to know of this installation. */

import { type AnswerOf, api } from "../../api.ts";

export type ConsoleConfig = AnswerOf<"GET /console/config">;

/** The route is not yet in the table of the service's routes. */
const read = api as unknown as (route: "GET /console/config") => Promise<ConsoleConfig>;

let known: Promise<ConsoleConfig> | undefined;

/** Asked for once, unless it failed or there was no administrator yet. */
export function readConsoleConfig(): Promise<ConsoleConfig> {
  known ??= read("GET /console/config").then(
    (config) => {
      if (config.setup !== null) known = undefined;
      return config;
    },
    (error: unknown) => {
      known = undefined;
      throw error;
    },
  );
  return known;
}
