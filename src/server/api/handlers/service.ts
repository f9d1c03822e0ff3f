/** /healthz and /readyz: whether the service runs and is ready. /openapi.json. /console: what its pages ask before a login. */

import type { service } from "../../../contract/service.ts";
import { formatTimestamp } from "../../../shared/time/timestamp.ts";
import type { Handlers } from "../http/call.ts";
import { HttpRefusal } from "../http/errors.ts";
import type { Phase } from "../web.ts";

const NOT_READY: Readonly<Record<Exclude<Phase, "serving">, string>> = {
  starting: "The service is starting",
  stopping: "The service is stopping",
};

export const serviceHandlers: Handlers<typeof service> = {
  "GET /healthz": async ({ web }) => {
    const status = (await web.databaseAnswers()) ? "ok" : "degraded";
    const now = web.services.clock.now();
    const uptime = Math.max(0, Math.floor((now.getTime() - web.startedAt.getTime()) / 1000));
    const { version, runtime } = web.options;
    return { status, version, uptime, go: runtime, timestamp: formatTimestamp(now) };
  },

  "GET /readyz": async ({ web }) => {
    const phase = web.phase();
    if (phase !== "serving") throw new HttpRefusal(503, NOT_READY[phase]);
    if (!(await web.databaseAnswers())) throw new HttpRefusal(503, "The database does not answer");
    return { status: "ok" };
  },

  "GET /console/config": async ({ web }) => {
    const { version, brand = "", logo, dryRun = false, captcha, contact = "", sso } = web.options;
    const { setupCommand: command } = web.options;
    const setup = command === undefined || (await web.hasAdmins()) ? null : { command };
    const provider = sso === undefined ? null : { name: sso.name };
    const { sponsor, terms } = web.services.policy;
    const policy = { sponsor: sponsor.mode, terms: terms() !== undefined };
    return {
      version,
      brand,
      logo: logo?.() ?? null,
      dry_run: dryRun,
      captcha,
      ...policy,
      contact,
      sso: provider,
      setup,
    };
  },

  "GET /openapi.json": ({ web, reply }) => {
    reply.header("cache-control", "public, max-age=300");
    return web.document();
  },
};
