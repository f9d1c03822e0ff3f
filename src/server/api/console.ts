/** /console: what the console's pages ask before anybody has logged in. */

import { Elysia } from "elysia";
import { ConsoleConfig } from "../../contract/service.ts";
import { data, responses } from "./schemas.ts";
import type { Web } from "./web.ts";

export function consoleRoutes(web: Web) {
  return new Elysia({ prefix: "/console" }).get(
    "/config",
    async () => {
      const { version, captcha, contact = "", sso, setupCommand: command } = web.options;
      const setup = command === undefined || (await web.hasAdmins()) ? null : { command };
      return { data: { version, captcha, contact, sso: sso === undefined ? null : { name: sso.name }, setup } };
    },
    {
      response: responses(data(ConsoleConfig)),
      detail: {
        operationId: "getConsoleConfig",
        summary: "What the console has to know before a login",
        description: "Nothing in it is secret.",
      },
    },
  );
}
