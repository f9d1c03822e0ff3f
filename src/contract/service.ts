import * as v from "valibot";
import { SPONSOR_MODES } from "../shared/product/statuses.ts";
import { described, statusOf } from "./fields.ts";
import { anyone, type Routes } from "./route.ts";

const ConsoleConfig = v.pipe(
  v.object({
    version: described("1.0.0"),
    brand: described("Example Corp", "Who offers the service, as `UAM_BRAND_NAME` says; empty without it"),
    logo: v.pipe(
      v.nullable(described("/assets/logo-3f786850e387550f.png")),
      v.description("The path of their logo, a picture, as `UAM_BRAND_LOGO` says; null without it"),
    ),
    dry_run: v.pipe(
      v.boolean(),
      v.metadata({ description: "Whether nothing on the service's own host is changed", examples: [false] }),
    ),
    captcha: v.pipe(
      v.picklist(["image", "proof", "both", "off"]),
      v.description("The proof needed to ask for a one-time code: see `UAM_CAPTCHA`"),
    ),
    sponsor: v.pipe(v.picklist(SPONSOR_MODES), v.description("Whether users have a sponsor: see `UAM_SPONSOR`")),
    terms: v.pipe(v.boolean(), v.description("Whether there are terms of use"), v.examples([false])),
    contact: described("help@example.org", "Whom to ask: an address or a sentence; empty where nobody is named"),
    sso: v.pipe(
      v.nullable(v.object({ name: described("Example Corp", "Its name for people") })),
      v.description("Only where administrators may log in by single sign-on"),
    ),
    setup: v.pipe(
      v.nullable(v.object({ command: described("uam admin add root-admin --email you@example.org") })),
      v.description("Only while there is no administrator: the command that makes one, at the service's host"),
    ),
  }),
  v.title("ConsoleConfig"),
);

const Health = v.pipe(
  v.object({
    status: v.pipe(
      v.picklist(["ok", "degraded"]),
      v.description("`degraded` while the database does not answer; nearly every other request fails then"),
    ),
    version: described("1.0.0"),
    uptime: v.pipe(
      v.number(),
      v.integer(),
      v.metadata({ description: "Whole seconds since the service started", examples: [86400] }),
    ),
    go: described("bun 1.4.4", "Runtime and its version"),
    timestamp: described("2026-11-20T08:00:00.000Z", "UTC, RFC 3339", { format: "date-time" }),
  }),
  v.title("Health"),
);

const Document = v.pipe(
  v.looseObject({
    openapi: v.string(),
    info: v.looseObject({ title: v.string(), version: v.string() }),
    paths: v.looseObject({}),
  }),
  v.metadata({
    description: "An OpenAPI 3.1 document",
    examples: [{ openapi: "3.1.1", info: { title: "User Access Management", version: "1.0.0" }, paths: {} }],
  }),
);

export const service = {
  "GET /healthz": {
    operationId: "getHealth",
    summary: "Whether the process is running",
    description: "For liveness checks: always 200, with or without the database.",
    who: anyone,
    isCacheable: true,
    answer: Health,
  },
  "GET /readyz": {
    operationId: "getReadiness",
    summary: "Whether the service is ready for requests",
    description: "For a load balancer: 503 while the service starts or stops, or while the database does not answer.",
    who: anyone,
    answer: statusOf("ok"),
    refusals: { 503: true },
  },
  "GET /console/config": {
    operationId: "getConsoleConfig",
    summary: "Get the settings that the console needs before a login",
    description: "Nothing in it is secret.",
    who: anyone,
    answer: ConsoleConfig,
  },
  "GET /openapi.json": {
    operationId: "getOpenApi",
    summary: "This document",
    description: "The one success that is not wrapped in `data`.",
    who: anyone,
    isCacheable: true,
    answer: Document,
    isBare: true,
    success: { description: "Done" },
  },
} as const satisfies Routes;
