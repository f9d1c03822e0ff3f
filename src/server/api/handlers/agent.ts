/** /agent: the requests and reports of agents on further hosts; docs/fleet-protocol.md has the protocol. */

import type { agent } from "../../../contract/agent.ts";
import { enrolHost } from "../../../domain/wire/enrolment.ts";
import { fleetSecrets } from "../../../domain/wire/fleet-key.ts";
import { rotateKey } from "../../../domain/wire/rotation.ts";
import { agentAnswer } from "../http/agent-request.ts";
import type { Handlers } from "../http/call.ts";
import { infoOf } from "../http/request.ts";

/** Seconds that an agent's request may be silent: longer than any is held. */
const HELD = 90;

export const agentHandlers: Handlers<typeof agent> = {
  "GET /agent/key": ({ web, query }) => {
    const { publicKey, answerChallenge } = fleetSecrets(web.services.seal);
    const signature = answerChallenge(query.challenge);
    return { public_key: Buffer.from(publicKey).toString("base64"), signature };
  },

  "POST /agent/enrol": async ({ context, body }) => await enrolHost(context, body),

  "GET /agent/state": async ({ web, agent, query, request }) => {
    const { signal } = request;
    const wait = Math.min(query.wait, infoOf(request).hold(HELD));
    const { since, reads, hours } = query;
    const host = { ...agent.host, reads, hours, holdsProfiles: query.profiles === "1" };
    const state = await web.fleet().states.answer({ since, wait, host, signal });
    return agentAnswer(request, `{"data":${state}}`);
  },

  "POST /agent/report": async ({ web, agent, body }) => {
    await web.fleet().reports.take(agent.host, body);
    return { status: "done" };
  },

  "POST /agent/rotate": async ({ web, agent, body, context }) => {
    web.fleet().rotationLimiter.begin(agent.host);
    await rotateKey(context, agent.host, { oldKey: agent.key, rotation: body });
    web.fleet().authenticator.forget(agent.host.id);
    return { status: "done" };
  },
};
