/** Requests of agents: whose they are, and the service's signature on what they are answered. */

import type { AdmittedHost } from "../../../domain/hosts/host-row.ts";
import type { Admission, Identified, Renewal } from "../../../domain/wire/authentication.ts";
import { fleetSecrets } from "../../../domain/wire/fleet-key.ts";
import type { States } from "../../../domain/wire/state.ts";
import { AGENT_PROTOCOL, AGENT_ROUTES, parseCursor } from "../../../protocol/fleet.ts";
import { ANSWER_HEADER, hashOf, NONCE_HEADER, signAnswer } from "../../../protocol/fleet-signature.ts";
import { UamError } from "../../../shared/errors.ts";
import { SECOND } from "../../../shared/time/clock.ts";
import { NO_LEASE } from "../../../shared/time/lease.ts";
import type { Web } from "../web.ts";
import { parseObject, readWhole, requireJson } from "./body.ts";
import { infoOf } from "./request.ts";

/** Bytes of a report: a hundred problems of five hundred characters each. */
export const MAX_AGENT_BODY = 512 * 1024;

/** For how many seconds a host stays open. */
const HELD = /^\d{1,9}$/;

const APPLIED = /[?&]applied=/;

/** The host that sent the request. */
export interface Agent {
  readonly host: AdmittedHost;
  /** The key that the request is signed with, in base64. */
  readonly key: string;
}

/** The data that an answer's signature covers, and the source of the next nonce. */
interface Signed {
  readonly over: Uint8Array;
  readonly host: number | undefined;
  nonceAt: number;
}

const signed = new WeakMap<Request, Signed>();
const admitted = new WeakMap<Request, Promise<Agent>>();
const bodies = new WeakMap<Request, Uint8Array>();
/** Bodies of answers, which need not be read again to be signed. */
const texts = new WeakMap<Request, string>();
/** Ends a report's turn. */
const turnsOf = new WeakMap<Request, () => void>();

/** Whether the request is for one of the agents' routes that take a signed body. */
export function isOfAgent(request: Request): boolean {
  return infoOf(request).target.startsWith("/agent/");
}

/** The agent whose request it is; found out once. Throws `unauthorized`, `conflict` for a repetition, and `forbidden`. */
export function requireAgent(web: Web, request: Request): Promise<Agent> {
  const known = admitted.get(request) ?? admit(web, request);
  admitted.set(request, known);
  return known;
}

/** The JSON body of an agent's request, once its signature was found to hold. */
export async function readAgentBody(web: Web, request: Request): Promise<object> {
  await requireAgent(web, request);
  requireJson(request);
  return parseObject(bodies.get(request) ?? new Uint8Array());
}

/** The JSON body of an enrolment, which is not signed: its answer is, over the hash of the body. */
export async function readEnrolment(request: Request): Promise<object> {
  const bytes = await readWhole(request, MAX_AGENT_BODY);
  signed.set(request, { over: hashOf(bytes), host: undefined, nonceAt: 0 });
  requireJson(request);
  return parseObject(bytes);
}

/** An answer to an agent, of that JSON. */
export function agentAnswer(request: Request, text: string): Response {
  texts.set(request, text);
  return new Response(text, { headers: { "content-type": "application/json" } });
}

/** The answer with the service's signature and a fresh nonce, where the request was signed; any other as it is. Called for each request of an agent. */
export async function signResponse({ services }: Web, request: Request, response: Response): Promise<Response> {
  turnsOf.get(request)?.();
  const about = signed.get(request);
  if (about === undefined) return response;
  const text = texts.get(request);
  const { status, headers } = response;
  const isText = text !== undefined && status === 200;
  const body = isText ? new TextEncoder().encode(text) : new Uint8Array(await response.arrayBuffer());
  const secrets = fleetSecrets(services.seal);
  headers.set(ANSWER_HEADER, signAnswer(secrets.key, about.over, status, body));
  if (about.host !== undefined) {
    const at = Math.max(services.clock.now().getTime(), about.nonceAt + 1);
    headers.set(NONCE_HEADER, secrets.nonce(about.host, at));
  }
  return new Response(body, { status, headers });
}

async function admit(web: Web, request: Request): Promise<Agent> {
  const route = infoOf(request).target.split("?")[0];
  const asksState = route === AGENT_ROUTES.state;
  const { authenticator, states, reportLimiter } = web.fleet();
  // One that says what its host has done is as good as a report.
  if (asksState && !APPLIED.test(infoOf(request).target)) await reportLimiter.giveWay();
  const identified = await identify(web, request);
  // Not before it is known who reports: nobody else is to make hosts wait.
  if (route === AGENT_ROUTES.report) turnsOf.set(request, await reportLimiter.take());
  const { credentials, key } = identified;
  const about: Signed = { over: credentials.signature, host: credentials.host, nonceAt: 0 };
  signed.set(request, about);
  requireVersion(request);
  if (asksState) await states.requireHead();
  const admission = await authenticator.admit(identified, asksState ? await renewalOf(request, states) : undefined);
  if (admission.kind !== "unknown") about.nonceAt = admission.nonceAt;
  return { host: hostOf(admission), key };
}

async function identify(web: Web, request: Request): Promise<Identified> {
  const { address, target } = infoOf(request);
  const authorization = request.headers.get("authorization") ?? "";
  try {
    // Nobody's body is read who does not even say who they are.
    const body = /^UAM-Agent /.test(authorization) ? await readWhole(request, MAX_AGENT_BODY) : new Uint8Array();
    bodies.set(request, body);
    return await web.fleet().authenticator.identify({ method: request.method, target, body, authorization });
  } catch (error) {
    if (error instanceof UamError && error.code === "unauthorized") web.limits.take("agent", address);
    throw error;
  }
}

/** Its faults are reported once the request is checked as a whole. */
async function renewalOf(request: Request, states: States): Promise<Renewal> {
  const query = new URLSearchParams(infoOf(request).target.split("?")[1]);
  const cursor = query.getAll("applied").join();
  const applied = cursor !== "" && (await states.knows(cursor)) ? parseCursor(cursor) : undefined;
  const held = query.getAll("held").join();
  if (held === NO_LEASE) return { held: Number.POSITIVE_INFINITY, applied };
  return { held: HELD.test(held) ? Number(held) * SECOND : undefined, applied };
}

function hostOf(admission: Admission): AdmittedHost {
  switch (admission.kind) {
    case "admitted":
      return admission.host;
    case "stale":
      throw new UamError(
        "unauthorized",
        "The nonce is not the newest: send the request again with the one of this answer",
        {
          reason: "agent.stale",
        },
      );
    case "repeated":
      throw new UamError("conflict", "This request was answered before", { reason: "agent.repeated" });
    case "copied":
    case "unknown":
      throw new UamError("unauthorized", "The key is no longer the host's", { reason: "agent.unknown" });
  }
}

/** This version is spoken, and the one before. */
function requireVersion(request: Request): void {
  const version = request.headers.get("uam-agent-version") ?? String(AGENT_PROTOCOL);
  const spoken = [AGENT_PROTOCOL, AGENT_PROTOCOL - 1].map(String);
  if (spoken.includes(version)) return;
  const sentence = `The service speaks version ${AGENT_PROTOCOL} of the agents' protocol; update the older of the two`;
  throw new UamError("invalid", sentence, { reason: "agent.version" });
}
