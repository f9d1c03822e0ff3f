/** Admits requests and reads them, as the contract's entry for the route says. */

import type { AnonymousLimit, Route } from "../../../contract/route.ts";
import type { Context } from "../../../domain/operation/context.ts";
import { UamError } from "../../../shared/errors.ts";
import type { Web } from "../web.ts";
import { type Agent, readAgentBody, readEnrolment, requireAgent } from "./agent-request.ts";
import { readCsv, readForm, readJson } from "./body.ts";
import { refuseMisspelled } from "./misspelled.ts";
import { authorize, contextOf, infoOf, type LiveSession } from "./request.ts";
import { isSafe } from "./routing.ts";

/** A caller who was let in. */
export interface Admitted {
  readonly context: Context;
  /** Of an administrator or a user. */
  readonly session?: LiveSession;
  readonly agent?: Agent;
}

/** Lets in only whoever the contract lets call the route. Throws `unauthorized`, `forbidden`, `limited`. */
export async function admit(web: Web, request: Request): Promise<Admitted> {
  const { who } = contractOf(request);
  if (who.permission === "agent") {
    return { agent: await requireAgent(web, request), context: contextOf(web.services, request) };
  }
  if (who.permission === "public") {
    if (who.limit !== undefined) countRequest(web, request, who.limit);
    checkQuery(request);
    return { context: contextOf(web.services, request) };
  }
  const session = await authorize(web, request, who);
  checkQuery(request);
  return { session, context: contextOf(web.services, request, session.principal) };
}

/**
 * The body of a request, as Elysia's `parse` hook: Elysia itself would accept forms, and JSON that is sent as text, which a browser
 * sends anywhere without asking. It parses before any other hook runs, so that permission is asked for, and the limit counted, here too.
 */
export async function parseBody(web: Web, request: Request): Promise<object> {
  const { who, body: schema, bodyAs, bodyLimit } = contractOf(request);
  if (who.permission === "agent") return await readAgentBody(web, request);
  if (who.permission !== "public") await authorize(web, request, who);
  else if (who.limit !== undefined) countRequest(web, request, who.limit);
  if (bodyAs === "agent") return await readEnrolment(request);
  const maximum = bodyLimit ?? web.options.maxBody;
  if (bodyAs === "csv") return await readCsv(request, maximum);
  if (bodyAs === "form") return await readForm(request, maximum);
  const body = await readJson(request, { maximum, optional: bodyAs === "optional" });
  refuseMisspelled(schema, body, "field");
  return body;
}

/** Throws `invalid` for a name that looks like a known one, and where somebody takes for a preview what would be the thing itself. */
function checkQuery(request: Request): void {
  if (!request.url.includes("?")) return;
  const { query } = contractOf(request);
  const { searchParams } = new URL(request.url);
  if (query !== undefined) refuseMisspelled(query, Object.fromEntries(searchParams), "parameter");
  const hasPreview = query !== undefined && "preview" in query.entries;
  if (searchParams.has("preview") && !hasPreview && !isSafe(request.method))
    throw new UamError("invalid", "There is no preview of this request");
}

const counted = new WeakSet<Request>();

/** Counts a request once, by whichever hook sees it first; throws `limited`. */
function countRequest(web: Web, request: Request, kind: AnonymousLimit): void {
  if (counted.has(request)) return;
  counted.add(request);
  web.limits.take(kind, infoOf(request).address);
}

function contractOf(request: Request): Route {
  const { entry, route } = infoOf(request);
  if (entry === undefined) throw new Error(`${request.method} ${route} is not in the contract`);
  return entry;
}
