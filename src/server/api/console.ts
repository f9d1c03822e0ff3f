/** /console: what the console's pages ask before anybody has logged in. */

import { Elysia } from "elysia";
import { createAdminProbe } from "../../domain/auth/first-admin.ts";
import { ConsoleConfig } from "./schemas/console.ts";
import { data, responses } from "./schemas.ts";
import type { Web } from "./web.ts";

export function consoleRoutes(web: Web) {
  const probe = { hasAdmins: undefined as (() => Promise<boolean>) | undefined };
  return new Elysia({ prefix: "/console" }).get(
    "/config",
    async () => {
      const { version, captcha, contact = "", setupCommand: command } = web.options;
      probe.hasAdmins ??= createAdminProbe(web.services);
      const setup = command === undefined || (await probe.hasAdmins()) ? null : { command };
      return { data: { version, captcha, contact, setup } };
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
