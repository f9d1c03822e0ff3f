/** The facts about a request besides its content: its id, its origin, and its session. */

import { randomUUID } from "node:crypto";
import type { Need, Route } from "../../../contract/route.ts";
import { hashToken, hexOf, type Principal } from "../../../domain/auth/sessions/sessions.ts";
import { shownPartOf, TOKEN_PREFIX } from "../../../domain/auth/tokens/token-format.ts";
import type { Context, Services } from "../../../domain/operation/context.ts";
import type { Actor } from "../../../domain/operation/entry.ts";
import type { Permit } from "../../../domain/operation/permission.ts";
import { UamError } from "../../../shared/errors.ts";
import { UNIX_PEER } from "../../../shared/net/client-address.ts";
import type { Reason } from "../../../shared/product/reasons.ts";
import { namedRoles, rolesFor } from "../../../shared/product/roles.ts";
import { ADMIN_ROLES, type AdminRole } from "../../../shared/product/statuses.ts";
import type { Web } from "../web.ts";
import { accessOf, isSafe } from "./routing.ts";
import { SESSION_COOKIE, tokenOf } from "./session-cookie.ts";

export interface RequestInfo {
  readonly id: string;
  /** The client's address, or `UNIX_PEER` for one on a unix socket that no trusted proxy speaks for. */
  readonly address: string;
  /** The path of the route it is for, as registered; "other" where there is none. */
  readonly route: string;
  /** The contract's entry for it, or for GET where the path has none of that method; undefined where it has neither. */
  readonly entry: Route | undefined;
  /** Path and query below the API's root, character by character as they were sent. */
  readonly target: string;
  /** Lets the answer take, and pause, for that many seconds; 0 for without end. For whoever was let in. Returns how many it may wait. */
  readonly hold: (seconds: number) => number;
  /** When its head had come, by the monotonic clock. */
  readonly begun: number;
}

/** A live session, or a machine's token in use, and the secret that it was found by. */
export interface LiveSession {
  readonly principal: Principal;
  readonly token: string;
}

const infos = new WeakMap<Request, RequestInfo>();
const found = new WeakMap<Request, Promise<LiveSession | undefined>>();
const permits = new WeakMap<Request, Permit>();

/** Remembers what is known about a request; call it once, before any route sees it. */
export function noteRequest(request: Request, known: Omit<RequestInfo, "id" | "begun">): RequestInfo {
  const info = { id: randomUUID(), begun: performance.now(), ...known };
  infos.set(request, info);
  return info;
}

export function infoOf(request: Request): RequestInfo {
  return (
    infos.get(request) ??
    noteRequest(request, {
      ...{ address: UNIX_PEER, route: "other", entry: undefined, target: "" },
      hold: (seconds) => seconds,
    })
  );
}

/** The token of this service that the request carries in `Authorization`, right or wrong; other services' are none of our business. */
export function bearerOf(request: Request): string | undefined {
  return BEARER.exec(request.headers.get("authorization") ?? "")?.[1];
}

/** The part of the request's token that may be logged: the part that lists show, if the text is long enough to be a token. */
export function shownBearerOf(request: Request): string | undefined {
  const bearer = bearerOf(request);
  return bearer !== undefined && /^\w{53}$/.test(bearer) ? shownPartOf(bearer) : undefined;
}

const BEARER = new RegExp(`^Bearer +(${TOKEN_PREFIX}.*)$`, "i");
const ANY_SESSION = new RegExp(`(?:^|;\\s*)${SESSION_COOKIE}=[^;\\s]`);

/**
 * The live session of the request, or its token, if it is of the kind and role that `need` asks for. Throws `unauthorized` without a
 * session, `forbidden` with one of the other kind or of another role. Looked up once a request.
 */
export async function authorize(
  web: Authorizing,
  request: Request,
  { permission, least, sessionOnly, setsUp }: Need,
): Promise<LiveSession> {
  let pending = found.get(request);
  if (pending === undefined) {
    pending = lookUp(web, request).then((session) => beginChange(web, request, session));
    found.set(request, pending);
  }
  const session = await pending;
  if (session === undefined) throw new UamError("unauthorized", "Log in first");
  if (permission !== "session" && session.principal.userType !== permission) {
    const allowed = permission === "admin" ? "administrators" : "external users";
    throw new UamError("forbidden", `Only ${allowed} may do this`, { reason: "session.wrong_kind" });
  }
  if (sessionOnly === true && session.principal.token !== undefined) {
    throw new UamError("forbidden", "A token cannot do this; log in", { reason: "token.not_allowed" });
  }
  if (permission !== "session" && setsUp !== true) requireSetUp(session.principal);
  const roles = least === undefined ? ADMIN_ROLES : rolesFor(least, accessOf(request.method));
  if (least !== undefined) requireRole(session.principal, roles);
  if (accessOf(request.method) === "change") permits.set(request, permitOf(session, roles));
  return session;
}

function permitOf(
  { principal: { userType, id, token }, token: secret }: LiveSession,
  roles: readonly AdminRole[],
): Permit {
  const by = token === undefined ? "session" : "token";
  return { by, hash: hexOf(hashToken(secret)), userType, principalId: id, roles };
}

/** Throws `forbidden` where the administrator has to set up a second factor first. */
function requireSetUp({ needs }: Principal): void {
  if (needs === undefined) return;
  const what = needs === "passkey" ? "a passkey" : "a passkey or an authenticator app";
  const sentence = `This service asks every administrator for ${what}; set one up first, on the page Your login or at /auth/passkeys`;
  throw new UamError("forbidden", sentence, { reason: "login.factor_needed" });
}

/** If a token's owner has since changed role, both roles must allow the request. */
function requireRole({ role, token }: Principal, allowed: readonly AdminRole[]): void {
  const short = [role, token?.within ?? role].find((one) => one === undefined || !allowed.includes(one));
  if (role !== undefined && short === undefined) return;
  throw new UamError("forbidden", `This needs the role ${namedRoles(allowed)}; yours is ${short ?? "none"}`, {
    reason: "role.insufficient",
  });
}

/** Whether a request asks only what it would do; then nothing is changed and nothing recorded. */
export function isPreview({ preview }: { readonly preview?: string | undefined }): boolean {
  return preview === "true";
}

/** The services on behalf of whoever sent the request, with what `authorize` found to permit it. */
export function contextOf(services: Services, request: Request, principal?: Principal): Context {
  const { id, address } = infoOf(request);
  const ip = address === UNIX_PEER ? "" : address;
  const actor = actorOf(principal, ip);
  // Of most requests nothing needs to be taken apart to see that there is none.
  const sentId = LONG_NUMBER.test(request.url) ? SENT_ID.exec(new URL(request.url).pathname)?.[1] : undefined;
  const isTooLarge = sentId !== undefined && !Number.isSafeInteger(Number(sentId));
  return { ...services, actor, requestId: id, permit: permits.get(request), ...(isTooLarge ? { sentId } : {}) };
}

function actorOf(principal: Principal | undefined, ip: string): Actor {
  if (principal === undefined) return { type: "anonymous", name: "anonymous", ip };
  const { userType, username, token } = principal;
  if (token === undefined) return { type: userType, name: username, ip };
  return { type: "token", name: token.name, ip, owner: username, tokenId: token.id };
}

/** The id within a path, which is its last part or the one before; an SSH session is not a row of the database. */
const SENT_ID = /\/(\d+)(?:\/[a-z-]*|\/sessions\/\d+)?\/?$/;

/** No shorter number is too large for an id. */
const LONG_NUMBER = /\d{16}/;

/** The session that a guard has found the request to have; undefined if none has looked, or found any. */
export async function sessionOf(request: Request): Promise<LiveSession | undefined> {
  return await found.get(request);
}

/** The parts of the service that find out whose request it is. */
type Authorizing = Pick<Web, "findSession" | "findToken" | "limits" | "refusedChanges" | "ownChanges" | "services">;

interface Change {
  readonly endRefusal: (isRefused: boolean) => void;
  /** None where the change only takes away, and for administrators. */
  readonly endOwn: ((isDone: boolean) => void) | undefined;
  /** Whether failures of the service itself count as well. */
  readonly countsFaults: boolean;
}

/** Failures of the service, its database or a host; the specification gives some of these a status below 500. */
const FAULTS: ReadonlySet<string | null> = new Set<Reason | null>([
  ...(["internal", "database.full", "service.not_ready", "service.busy", "host.refused", "access.owed"] as const),
  "audit.unrecorded",
]);

const changes = new WeakMap<Request, Change>();

/** Throws `limited` for a change of a session whose changes were refused too often, and of an external user who has changed too much. */
async function beginChange(
  web: Authorizing,
  request: Request,
  session: LiveSession | undefined,
): Promise<LiveSession | undefined> {
  if (session === undefined || isSafe(request.method)) return session;
  const context = contextOf(web.services, request, session.principal);
  // A failure of the service is not the fault of an administrator, who may have to take access away once it can. An external user, whose
  // home can be made to refuse a key file, can cause it.
  const countsFaults = session.principal.userType === "user";
  const isOwn = countsFaults && infoOf(request).entry?.onlyTakesAway !== true;
  const endRefusal = await web.refusedChanges.begin(session, context);
  try {
    const endOwn = isOwn ? await web.ownChanges.begin(session, context) : undefined;
    changes.set(request, { endRefusal, endOwn, countsFaults });
  } catch (error) {
    endRefusal(false);
    throw error;
  }
  return session;
}

/** Says how a change ended, if it is one of a session. */
export function endChange(request: Request, { status, headers }: Response): void {
  const change = changes.get(request);
  const isFault = status >= 500 || FAULTS.has(headers.get("uam-error"));
  change?.endRefusal(status >= 400 && (change.countsFaults || !isFault));
  change?.endOwn?.(status < 400);
}

async function lookUp(web: Authorizing, request: Request): Promise<LiveSession | undefined> {
  const bearer = bearerOf(request);
  if (bearer !== undefined) return await lookUpToken(web, request, bearer);
  const token = tokenOf(request);
  if (token === undefined) return undefined;
  const principal = await web.findSession(token);
  return principal === undefined ? undefined : { principal, token };
}

/** Only an invalid token counts against the address: 256 bits are not guessed, and a neighbour's mistakes shut no machine out. */
async function lookUpToken(web: Authorizing, request: Request, bearer: string): Promise<LiveSession> {
  if (ANY_SESSION.test(request.headers.get("cookie") ?? "")) {
    const sentence = "Send a token or a session cookie, not both";
    throw new UamError("invalid", sentence, { reason: "token.misplaced" });
  }
  const { address } = infoOf(request);
  const principal = await web.findToken(bearer, address);
  if (principal !== undefined) return { principal, token: bearer };
  web.limits.take("token", address);
  throw new UamError("unauthorized", "Invalid token", { reason: "token.wrong" });
}
