/** The facts about this installation that pages without a session need. */

import { type AnswerOf, api } from "../../api.ts";

export type ConsoleConfig = AnswerOf<"GET /console/config">;

let known: Promise<ConsoleConfig> | undefined;

/** Asked for once, unless it failed or there was no administrator yet. */
export function readConsoleConfig(): Promise<ConsoleConfig> {
  known ??= api("GET /console/config").then(
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
