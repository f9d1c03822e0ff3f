/** The facts about this installation that pages without a session need. */

import { useEffect, useState } from "preact/hooks";
import { type AnswerOf, api } from "./api.ts";

export type Installation = AnswerOf<"GET /console/config">;

let known: Promise<Installation> | undefined;

/** The last answer. */
let answered: Installation | undefined;

/** Asked for once, unless it failed or there was no administrator yet. */
export function readInstallation(): Promise<Installation> {
  known ??= api("GET /console/config").then(
    (config) => {
      answered = config;
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

/** The same while a page is shown; undefined until it is known. Pages do without it. */
export function useInstallation(): Installation | undefined {
  const [installation, setInstallation] = useState(answered);
  useEffect(() => {
    readInstallation().then(setInstallation, () => {});
  }, []);
  return installation;
}
