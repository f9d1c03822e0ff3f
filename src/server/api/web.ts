/** Shared by the routes: the services, and the options of the HTTP side. */

import type { AuditReads } from "../../domain/audit/reads.ts";
import type { RateLimits } from "../../domain/auth/sessions/rate-limits.ts";
import type { SessionFinder } from "../../domain/auth/sessions/sessions.ts";
import type { SsoProvider } from "../../domain/auth/sso/provider.ts";
import type { TokenFinder } from "../../domain/auth/tokens/token-use.ts";
import type { SendMessage } from "../../domain/events/message.ts";
import type { ExportPlaces } from "../../domain/exports/places.ts";
import type { CaptchaMode, Services } from "../../domain/operation/context.ts";
import type { Fleet } from "../../domain/wire/fleet.ts";
import type { Slots } from "../../shared/work/bounded.ts";
import type { ChangeLimit } from "./http/change-limit.ts";
import type { OpenApiDocument } from "./http/openapi.ts";
import type { RegisteredRoute, RouteIndex } from "./http/routing.ts";

/** The options of the HTTP side, from the configuration. */
export interface WebOptions {
  readonly baseUrl: string;
  readonly corsOrigins: readonly string[];
  readonly cookieSameSite: "Strict" | "Lax" | "None";
  /** Bytes. */
  readonly maxBody: number;
  readonly version: string;
  /** Runtime and its version, e.g. "bun 1.4.4". */
  readonly runtime: string;
  /** Whether anonymous routes are limited for each client address. */
  readonly rateLimit: boolean;
  /** Refused changes of one session or token in a minute; see `createRefusedChanges`. */
  readonly mostRefused?: number | undefined;
  /** Changes of one external user in a minute; see `createOwnChanges`. */
  readonly mostOwnChanges?: number | undefined;
  /** Addresses, ranges and the word `unix`: whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[];
  /** The contact for the service: an address or a sentence. */
  readonly contact?: string | undefined;
  /** Who offers the service, by name. */
  readonly brand?: string | undefined;
  /** The present address of their logo, which the pages serve; undefined where there is none. */
  readonly logo?: (() => string | undefined) | undefined;
  /** Whether nothing on the service's own host is changed. */
  readonly dryRun?: boolean | undefined;
  /** The console's answer for a path outside the API; undefined for any other path, or altogether without the console. */
  readonly pages?: ((request: Request, path: string) => Response | undefined) | undefined;
  /** The command that makes the first administrator, for the console while there is none. */
  readonly setupCommand?: string | undefined;
  /** The provider of single sign-on, where one is set up. */
  readonly sso?: SsoProvider | undefined;
  /** The checks that may be asked for before a code is mailed; see `CaptchaMode`. */
  readonly captcha: CaptchaMode;
  /** Delivers a message to a webhook; needed only to answer requests. */
  readonly sendWebhook?: SendMessage | undefined;
  /** Called for every answer; for monitoring. */
  readonly observe?: ((answered: Answered) => void) | undefined;
}

/** A request that was answered. */
export interface Answered {
  readonly method: string;
  /** As registered, or "other". */
  readonly route: string;
  readonly status: number;
  readonly seconds: number;
}

/** The state of the service: it is ready for requests only while it serves. */
export type Phase = "starting" | "serving" | "stopping";

export interface Web {
  readonly services: Services;
  readonly options: WebOptions;
  readonly startedAt: Date;
  readonly findSession: SessionFinder;
  readonly findToken: TokenFinder;
  readonly limits: RateLimits;
  /** How often changes of each session and token are refused. */
  readonly refusedChanges: ChangeLimit;
  /** How much each external user has changed. */
  readonly ownChanges: ChangeLimit;
  /** Who has read the audit log. */
  readonly auditReads: AuditReads;
  readonly exportPlaces: ExportPlaces;
  /** For deliveries to webhooks by request. */
  readonly deliveryPlaces: Slots;
  /** All routes. */
  readonly routes: () => RouteIndex<RegisteredRoute>;
  readonly phase: () => Phase;
  /** Whether the database answers; see `createDatabaseProbe`. */
  readonly databaseAnswers: () => Promise<boolean>;
  /** Whether there is an administrator; see `createAdminProbe`. */
  readonly hasAdmins: () => Promise<boolean>;
  /** The OpenAPI document, made when it is first asked for. */
  readonly document: () => OpenApiDocument;
  /** The hosts with agents. */
  readonly fleet: () => Fleet;
}
