/** A provider that answers whatever a test says, right or wrong: what a real one never would. */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from "jose";

/** What is answered at the next requests; a function may answer by itself, or not at all. */
export interface Forgery {
  /** Over the claims of the ID token; undefined takes one away. */
  claims: Record<string, unknown>;
  /** Over those of the metadata. */
  metadata: Record<string, unknown>;
  /** Over the token endpoint's answer. */
  token: Record<string, unknown>;
  userinfo: unknown;
  /** The key that signs, where it is not the published one. */
  key: CryptoKey | Uint8Array | undefined;
  header: Record<string, unknown>;
  /** Answers requests at these paths itself. */
  at: Record<string, (request: IncomingMessage, response: ServerResponse) => void>;
}

export interface ForgedProvider {
  readonly issuer: string;
  readonly forgery: Forgery;
  /** Requests so far, by path. */
  readonly asked: string[];
  /** Everything as it should be again. */
  honest(): void;
  /** The code that belongs to a login's address: what the ID token then says comes from there. */
  answerTo(address: string): URL;
  /** A logout token; its claims over right ones. */
  logoutToken(claims: Record<string, unknown>): Promise<string>;
  /** Publishes another key, and signs with it. */
  rotate(): Promise<void>;
  close(): Promise<void>;
}

export const LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout";

/** Starts it; `client` is whom its tokens are for. */
export async function startForgedProvider(client = "uam"): Promise<ForgedProvider> {
  const forgery = { at: {} } as Forgery;
  const asked: string[] = [];
  const nonces = new Map<string, string>();
  let pair: { key: CryptoKey; jwk: JWK };
  const server = createServer((request, response) => {
    void answer(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  const issuer = `http://127.0.0.1:${address.port}`;
  await rotate();
  honest();

  function honest(): void {
    const none = { claims: {}, metadata: {}, token: {}, header: {}, at: {}, key: undefined };
    Object.assign(forgery, none, { userinfo: { sub: "somebody" } });
  }

  async function rotate(): Promise<void> {
    const { privateKey, publicKey } = await generateKeyPair("ES256");
    const kid = crypto.randomUUID();
    pair = { key: privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg: "ES256", use: "sig" } };
  }

  async function sign(claims: Record<string, unknown>): Promise<string> {
    // Through JSON, so that "__proto__" stays a claim as it would in any other language.
    const payload = JSON.parse(JSON.stringify(claims)) as Record<string, unknown>;
    const header = { alg: "ES256", kid: pair.jwk.kid, ...forgery.header };
    return await new SignJWT(payload).setProtectedHeader(header as never).sign(forgery.key ?? pair.key);
  }

  function now(): number {
    return Math.floor(Date.now() / 1000);
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? "").split("?")[0] ?? "";
    asked.push(path);
    const own = forgery.at[path];
    if (own !== undefined) return own(request, response);
    let body = "";
    for await (const chunk of request) body += String(chunk);
    if (path === "/.well-known/openid-configuration") return json(response, metadata());
    if (path === "/jwks") return json(response, { keys: [pair.jwk] });
    if (path === "/userinfo") return json(response, forgery.userinfo);
    const nonce = nonces.get(new URLSearchParams(body).get("code") ?? "");
    const right = { iss: issuer, aud: client, sub: "somebody", iat: now(), exp: now() + 300, nonce, sid: "session-1" };
    const person = { email: "somebody@example.org", preferred_username: "somebody", groups: ["uam-owners"] };
    const idToken = await sign({ ...right, ...person, ...forgery.claims });
    json(response, { access_token: "access", token_type: "Bearer", id_token: idToken, ...forgery.token });
  }

  function metadata(): object {
    return {
      ...{
        issuer,
        authorization_endpoint: `${issuer}/auth`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/jwks`,
      },
      ...{ userinfo_endpoint: `${issuer}/userinfo`, id_token_signing_alg_values_supported: ["ES256"] },
      ...{ response_types_supported: ["code"], subject_types_supported: ["public"], ...forgery.metadata },
    };
  }

  return {
    issuer,
    forgery,
    asked,
    honest,
    rotate,
    answerTo: (login) => {
      const { searchParams } = new URL(login);
      const code = crypto.randomUUID();
      nonces.set(code, searchParams.get("nonce") ?? "");
      const back = new URL(searchParams.get("redirect_uri") ?? "");
      back.searchParams.set("code", code);
      back.searchParams.set("state", searchParams.get("state") ?? "");
      return back;
    },
    logoutToken: (claims) => {
      const right = { iss: issuer, aud: client, iat: now(), exp: now() + 120, jti: crypto.randomUUID() };
      return sign({ ...right, events: { [LOGOUT_EVENT]: {} }, ...claims });
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

function json(response: ServerResponse, body: unknown): void {
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify(body));
}
