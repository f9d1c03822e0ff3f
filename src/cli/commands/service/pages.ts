/** The pages for browsers, and the logo on them. */

import type { Config } from "../../../config/config.ts";
import { loadConsole } from "../../../server/console/bundle.ts";
import { type ConsoleHandler, createConsole } from "../../../server/console/console.ts";
import { readLogo } from "../../../server/console/logo.ts";
import type { Log } from "../../../shared/log.ts";

export interface Pages {
  /** Undefined without them: from source they have to be bundled first. */
  readonly answer: ConsoleHandler | undefined;
  /** The path of the present logo; undefined where there is none. */
  readonly logo: () => string | undefined;
  /** Reads the logo again. One that cannot be used is logged, and the old one stays in use. */
  readonly reload: () => void;
}

type PageConfig = Pick<Config, "console" | "brandLogo">;

/** Opens the pages, unless they are switched off. Throws `invalid` with what is wrong with the logo, also where nobody would see it. */
export function openPages({ console: isOn, brandLogo: file }: PageConfig, log: Log, load = loadConsole): Pages {
  let logo = file === undefined ? undefined : readLogo(file);
  const bundle = isOn ? load() : undefined;
  if (isOn && bundle === undefined) log.warn('the console is not there: it is made by "bun run console"');
  const answer = bundle === undefined ? undefined : createConsole(bundle, () => logo);
  return {
    answer,
    logo: () => (answer === undefined ? undefined : logo?.path),
    reload: () => {
      if (file === undefined) return;
      try {
        logo = readLogo(file);
        log.info("the logo was read again", { path: logo.path });
      } catch (error) {
        log.error("the new logo cannot be used; the old one stays in use", { error });
      }
    },
  };
}
