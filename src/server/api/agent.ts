/** /agent: what the agents on further hosts ask and report; docs/fleet-protocol.md has the protocol. */

import { Elysia } from "elysia";
import {
  EnrolledRecord,
  Enrolment,
  FleetKeyRecord,
  HostStateRecord,
  KeyQuery,
  ReportBody,
  RotationBody,
  StateQuery,
  Taken,
} from "../../contract/agent.ts";
import { enrolHost } from "../../domain/fleet/enrolment.ts";
import { fleetSecrets } from "../../domain/fleet/fleet-key.ts";
import { rotateKey } from "../../domain/fleet/rotation.ts";
import { agentAnswer } from "./agent-request.ts";
import { agentBody, agentOnly, anonymous, enrolmentBody } from "./elysia.ts";
import { infoOf } from "./request.ts";
import { created, data, responses } from "./schemas.ts";
import type { Web } from "./web.ts";

/** Seconds that an agent's request may be silent: longer than any is held. */
const HELD = 90;

/** For the document: why an agent is refused. */
const AGENT_FAILURES = {
  401: {
    description:
      "`agent.stale`: send the request again with the nonce of this answer. `agent.unknown`: no host's key signed it",
  },
  409: { description: "This request was answered before: go on with the next counter" },
  429: {
    description: "Too much at once, or too many requests that no host signed; Retry-After says when to try again",
  },
};

export function agentRoutes(web: Web) {
  return new Elysia({ prefix: "/agent" }).use(openRoutes(web)).use(signedRoutes(web));
}

function openRoutes(web: Web) {
  return new Elysia()
    .use(anonymous(web, "join"))
    .get(
      "/key",
      ({ query }) => {
        const { publicKey, answerChallenge } = fleetSecrets(web.services.seal);
        const signature = answerChallenge(query.challenge);
        return { data: { public_key: Buffer.from(publicKey).toString("base64"), signature } };
      },
      {
        query: KeyQuery,
        response: responses(data(FleetKeyRecord), 400, 429),
        detail: {
          operationId: "getFleetKey",
          summary: "Who the service is",
          description: "Its key, whose fingerprint is in the line that joins a host, and a proof that it has it.",
        },
      },
    )
    .post("/enrol", async ({ context, body, status }) => status(201, { data: await enrolHost(context, body) }), {
      parse: enrolmentBody(web),
      body: Enrolment,
      response: created(data(EnrolledRecord), 400, 401, 409, 429),
      detail: {
        operationId: "enrolHost",
        summary: "Join a host",
        description: "Binds the agent's own key. The answer is signed over the hash of the body.",
        responses: {
          401: { description: "The token is wrong, was used, or has ended" },
          409: { description: "The name or the key is another host's, or the host's uids leave too few" },
        },
      },
    });
}

function signedRoutes(web: Web) {
  return new Elysia()
    .use(agentOnly(web))
    .get(
      "/state",
      async ({ agent, query, request }) => {
        const { signal } = request;
        const wait = Math.min(query.wait, infoOf(request).hold(HELD));
        const host = { ...agent.host, reads: query.reads };
        const state = await web.fleet().states.answer({ ...query, wait, host, signal });
        return agentAnswer(request, `{"data":${state}}`);
      },
      {
        query: StateQuery,
        response: responses(data(HostStateRecord), 400, 401, 409, 429, 503),
        detail: {
          operationId: "getHostState",
          summary: "What the host should be",
          description:
            "What changed since the cursor, or everything. Without news the request is held for at most 60 seconds. Each answer renews the lease.",
          responses: {
            ...AGENT_FAILURES,
            503: { description: "The newest audit record cannot be read: without it no lease is granted" },
          },
        },
      },
    )
    .post(
      "/report",
      async ({ agent, body }) => {
        await web.fleet().reports.take(agent.host, body);
        return { data: { status: "done" as const } };
      },
      {
        parse: agentBody(web),
        body: ReportBody,
        response: responses(data(Taken), 400, 401, 409, 429),
        detail: {
          operationId: "reportHost",
          summary: "What the host is",
          description: "What was applied, and what is wrong there now. The same report again changes nothing.",
          responses: AGENT_FAILURES,
        },
      },
    )
    .post(
      "/rotate",
      async ({ agent, body, context }) => {
        web.fleet().keyChanges.begin(agent.host);
        await rotateKey(context, agent.host, { oldKey: agent.key, rotation: body });
        web.fleet().authenticator.forget(agent.host.id);
        return { data: { status: "done" as const } };
      },
      {
        parse: agentBody(web),
        body: RotationBody,
        response: responses(data(Taken), 400, 401, 409, 429),
        detail: {
          operationId: "rotateAgentKey",
          summary: "Change the agent's key",
          description: "Signed with the present key, which is void once this is answered.",
          responses: AGENT_FAILURES,
        },
      },
    );
}
