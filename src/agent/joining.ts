/** The first contact with a service: checks who it is before it is told anything, and binds this host's key to it. */

import { Buffer } from "node:buffer";
import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { AGENT_ROUTES, type Enrolment } from "../protocol/fleet.ts";
import { parseEnrolled, parseFleetKey } from "../protocol/fleet-answers.ts";
import {
  ANSWER_HEADER,
  challengeBytes,
  checkingKey,
  hashOf,
  isAnswerOf,
  keyFingerprint,
  publicBytes,
  signingKey,
} from "../protocol/fleet-signature.ts";
import { isSignedBytes } from "../protocol/signed-bytes.ts";
import { UamError } from "../shared/errors.ts";
import type { Clock } from "../shared/time/clock.ts";
import { formatTimestamp } from "../shared/time/timestamp.ts";
import { faultPoint } from "../shared/work/fault-point.ts";
import { answerOf, apiOf, exchange, headersOf, limits, requireSafeAddress, type Send } from "./client.ts";
import { type AgentIdentity, adoptNextKey, makeNextKey, resetEpoch, writeIdentity } from "./store.ts";

/** The token that `uam host token` prints. */
export interface JoinLine {
  /** Without a slash at its end. */
  readonly service: string;
  readonly token: string;
  /** `SHA256:…` of the service's fleet key. */
  readonly fingerprint: string;
}

/** The parts of the line; throws `invalid` with what is wrong with it. */
export function parseJoinLine(line: string): JoinLine {
  const [service = "", token = "", fingerprint = "", ...more] = line.trim().split(/\s+/);
  const wanted = 'the whole line that "uam host token" printed: ADDRESS TOKEN SHA256:…';
  if (more.length > 0 || !/^uamj_[A-Za-z0-9_-]{20,200}$/.test(token)) throw new UamError("invalid", `Give ${wanted}`);
  if (!/^SHA256:[A-Za-z0-9+/]{43}$/.test(fingerprint)) {
    throw new UamError("invalid", `The last part is not the fingerprint of a service's key; give ${wanted}`);
  }
  const { origin, pathname, search, hash, username } = requireSafeAddress(service);
  if (search !== "" || hash !== "" || username !== "") {
    throw new UamError("invalid", `The service's address has parts that no address of a service has: ${service}`);
  }
  return { service: `${origin}${pathname.replace(/\/+$/, "")}`, token, fingerprint };
}

/** The service's public key, if whoever answers at that address has the key of that fingerprint. Throws `conflict` otherwise. */
export async function meetService({ service, fingerprint }: JoinLine, send: Send): Promise<Uint8Array> {
  const challenge = randomBytes(32).toString("hex");
  const { response, content } = await exchange(send, `${apiOf(service)}${AGENT_ROUTES.key}?challenge=${challenge}`, {
    ...{ method: "GET", headers: headersOf("GET"), body: null },
    ...limits(),
  });
  const told = parseFleetKey(answerOf(response, content).data);
  if (told === undefined) {
    throw new UamError("conflict", `${service} answered ${response.status}, and not as a uam service that has hosts`);
  }
  const key = Buffer.from(told.public_key, "base64");
  const isProven = isSignedBytes(key, challengeBytes(challenge), told.signature);
  if (keyFingerprint(key) !== fingerprint || !isProven) {
    throw new UamError(
      "conflict",
      `${service} is not the service of that line: its key is ${keyFingerprint(key)}. The token was not sent`,
    );
  }
  return key;
}

/**
 * Spends the token: the host is the service's from then on, and who it is lies in the directory. Throws `conflict` with the
 * service's reason if it refuses.
 */
export async function joinService(options: {
  readonly directory: string;
  readonly line: JoinLine;
  readonly fleetKey: Uint8Array;
  readonly ca: string | undefined;
  readonly about: Omit<Enrolment, "token" | "public_key">;
  readonly send: Send;
  readonly clock: Clock;
}): Promise<AgentIdentity> {
  const { directory, line, fleetKey, ca, about, send, clock } = options;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const seed = makeNextKey(directory);
  const public_key = Buffer.from(publicBytes(signingKey(seed))).toString("base64");
  const enrolment: Enrolment = { ...about, token: line.token, public_key };
  const body = JSON.stringify(enrolment);
  faultPoint("agent: own key made, token not spent");
  const { response, content } = await exchange(send, `${apiOf(line.service)}${AGENT_ROUTES.enrol}`, {
    ...{ method: "POST", headers: headersOf("POST"), body },
    ...limits(),
  });
  const { status } = response;
  const { data, error } = answerOf(response, content);
  const signature = response.headers.get(ANSWER_HEADER) ?? "";
  const request = hashOf(Buffer.from(body));
  const isSigned = isAnswerOf(checkingKey(fleetKey), { request, status, body: content, signature });
  const given = isSigned ? parseEnrolled(data) : undefined;
  if (status !== 201 || given === undefined) {
    const said = error === "" ? `it answered ${status}` : error;
    throw new UamError("conflict", `${line.service} did not take this host: ${said}`);
  }
  const now = formatTimestamp(clock.now());
  const identity = {
    ...{ service: line.service, ca, host_id: given.host_id, name: given.name },
    ...{ fleet_key: Buffer.from(fleetKey).toString("base64"), joined_at: now, key_since: now },
  };
  faultPoint("agent: token spent, nothing kept");
  resetEpoch(directory);
  adoptNextKey(directory);
  faultPoint("agent: own key kept, service's name not");
  writeIdentity(directory, identity);
  return identity;
}
