/** The first contact: whom a host believes, and what it tells whom. */

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSend } from "../../src/agent/client.ts";
import { meetService, parseJoinLine } from "../../src/agent/joining.ts";
import { findIdentity, nextEpoch, readKeys } from "../../src/agent/store.ts";
import { makeCertificate } from "../support/certificate.ts";
import { HOST_ID, startFleetStub } from "../support/fleet-stub.ts";
import { HANG } from "../support/hang.ts";
import { needs } from "../support/tools.ts";
import { type AgentLab, openAgentLab } from "./lab.ts";

const TOKEN = `uamj_${"a".repeat(43)}`;
const FINGERPRINT = `SHA256:${"b".repeat(43)}`;

describe("parseJoinLine()", () => {
  test("takes the line as it is printed, with a path where there is one", () => {
    for (const [address, service] of [
      ["https://uam.example.org", "https://uam.example.org"],
      ["https://example.org:8443/uam/", "https://example.org:8443/uam"],
      ["http://127.0.0.1:8080", "http://127.0.0.1:8080"],
    ]) {
      expect(parseJoinLine(` ${address} ${TOKEN}  ${FINGERPRINT}\n`)).toEqual({
        service: service ?? "",
        ...{ token: TOKEN, fingerprint: FINGERPRINT },
      });
    }
  });

  test("refuses what is not encrypted, half a line, and addresses with more in them", () => {
    const of = (address: string) => () => parseJoinLine(`${address} ${TOKEN} ${FINGERPRINT}`);
    expect(of("http://uam.example.org")).toThrow("must begin with https://");
    expect(of("http://127.0.0.1.example.org")).toThrow("must begin with https://");
    expect(of("https://user@uam.example.org")).toThrow("has parts");
    expect(of("https://uam.example.org/?x")).toThrow("has parts");
    expect(() => parseJoinLine(`https://uam.example.org ${TOKEN}`)).toThrow("fingerprint");
    expect(() => parseJoinLine("https://uam.example.org")).toThrow("uam host token");
    expect(() => parseJoinLine(`https://x.example.org ${TOKEN} ${FINGERPRINT} more`)).toThrow("uam host token");
  });
});

describe("joinService()", () => {
  let lab: AgentLab;
  beforeEach(async () => {
    lab = await openAgentLab(false);
  });
  afterEach(() => lab.close());

  test("binds a key that nobody else can read, and begins at the first epoch", async () => {
    await lab.join();
    expect(findIdentity(lab.directory)).toMatchObject({ host_id: HOST_ID, name: "web1", service: lab.stub.origin });
    expect(statSync(join(lab.directory, "agent.key")).mode & 0o777).toBe(0o600);
    expect(readKeys(lab.directory).next).toBeUndefined();
    expect([nextEpoch(lab.directory), nextEpoch(lab.directory)]).toEqual([1, 2]);
    expect(readFileSync(join(lab.directory, "epoch"), "utf8")).toBe("0000000002\n");
  });

  test("tells a service of another key nothing", async () => {
    const other = startFleetStub();
    try {
      const line = { ...parseJoinLine(lab.stub.line), service: other.origin };
      await expect(meetService(line, lab.send)).rejects.toThrow("The token was not sent");
      expect(other.requests).toHaveLength(1);
      expect(other.requests[0]).toStartWith("GET /agent/key");
    } finally {
      await other.stop();
    }
  });

  test("believes no key that is not proved", async () => {
    lab.stub.tamper = async (answer) => {
      const { data } = (await answer.json()) as { data: { public_key: string } };
      return Response.json({ data: { ...data, signature: Buffer.alloc(64).toString("base64") } });
    };
    await expect(lab.join()).rejects.toThrow("is not the service of that line");
    lab.stub.tamper = () => new Response("<html>", { status: 200 });
    await expect(lab.join()).rejects.toThrow("not as a uam service");
    expect(lab.stub.enrolments).toEqual([]);
  });

  test("a refusal is the service's sentence, and nothing is joined", async () => {
    lab.stub.refuse = () => ({ status: 401 });
    await expect(lab.join()).rejects.toThrow("did not take this host: The token is not valid");
    expect(findIdentity(lab.directory)).toBeUndefined();
  });

  test("an answer that the service did not sign joins nothing", async () => {
    lab.stub.tamper = async (answer, target) =>
      target === "/agent/enrol"
        ? new Response((await answer.text()).replace(`${HOST_ID}`, "8"), { status: 201, headers: answer.headers })
        : answer;
    await expect(lab.join()).rejects.toThrow("did not take this host");
    expect(existsSync(join(lab.directory, "agent.json"))).toBe(false);
  });
});

describe.if(needs("openssl"))("openSend()", () => {
  let directory: string;
  let server: ReturnType<typeof Bun.serve>;
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), "uam-agent-tls-"));
    const { key, cert } = makeCertificate(directory, "DNS:localhost");
    server = Bun.serve({ port: 0, idleTimeout: 0, tls: { key, cert }, fetch: () => new Response("hello") });
  });
  afterAll(async () => {
    await server.stop(true);
    rmSync(directory, { recursive: true, force: true });
  });
  const init = { method: "GET", headers: {}, body: null, redirect: "manual" } as const;
  const ask = (ca: string | undefined) =>
    openSend(ca)(`https://localhost:${server.port}/`, { ...init, signal: AbortSignal.timeout(HANG) });

  test("trusts the given certificates, and without them only the system's", async () => {
    expect(await (await ask(join(directory, "cert.pem"))).text()).toBe("hello");
    await expect(ask(undefined)).rejects.toThrow();
  });

  test("says what is wrong with the file", () => {
    expect(() => openSend("/no/such.pem")).toThrow("cannot be read");
    expect(() => openSend(join(directory, "key.pem"))).toThrow("no certificate");
  });
});
