/** A real OpenID Connect provider over HTTP, whose people log in as the test says, and a proxy in front of it that spoils what the test says. */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { exportJWK, generateKeyPair, type JWK } from "jose";
import Provider from "oidc-provider";

export const CLIENT = { id: "uam", secret: "a secret of the client's" } as const;

/** Somebody at the provider. */
export interface Person {
  readonly subject: string;
  readonly claims: Readonly<Record<string, unknown>>;
}

/** What the test can change at any time. */
export interface Wishes {
  /** Who is at the keyboard; undefined: they refuse. */
  person: Person | undefined;
  /** Called for each request to it, before the provider sees it; true if it was answered. */
  before: ((request: IncomingMessage, response: ServerResponse) => boolean | Promise<boolean>) | undefined;
}

export interface TestProvider {
  readonly issuer: string;
  readonly wishes: Wishes;
  readonly provider: Provider;
  /** Requests so far, as method and path. */
  readonly asked: string[];
  /** Its sessions that a client was told of, in the order of the codes that were redeemed. */
  readonly sids: string[];
  /** Goes on with other keys, and perhaps another address to come back to; the old ones are gone. */
  rotate(redirectUri?: string): Promise<void>;
  close(): Promise<void>;
}

/** Starts a provider that knows one client, with that exact address to come back to. */
export async function startProvider(redirectUri: string, logoutUri?: string): Promise<TestProvider> {
  const wishes: Wishes = { person: undefined, before: undefined };
  const asked: string[] = [];
  let redirect = redirectUri;
  const sids: string[] = [];
  const people = new Map<string, Person>();
  let handle: (request: IncomingMessage, response: ServerResponse) => void = () => {};
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  const issuer = `http://127.0.0.1:${address.port}`;
  let provider = await open();

  async function open(): Promise<Provider> {
    const made = new Provider(issuer, {
      clients: [
        {
          client_id: CLIENT.id,
          client_secret: CLIENT.secret,
          redirect_uris: [redirect],
          response_types: ["code"],
          grant_types: ["authorization_code"],
          ...(logoutUri === undefined
            ? {}
            : { backchannel_logout_uri: logoutUri, backchannel_logout_session_required: true }),
        },
      ],
      jwks: { keys: [await newKey()] },
      cookies: { keys: ["a key of the provider's cookies"] },
      claims: {
        openid: ["sub"],
        profile: ["preferred_username"],
        email: ["email", "email_verified"],
        groups: ["groups"],
      },
      scopes: ["openid", "profile", "email", "groups"],
      conformIdTokenClaims: true,
      features: {
        devInteractions: { enabled: false },
        backchannelLogout: { enabled: true },
        rpInitiatedLogout: { enabled: true },
      },
      pkce: { required: () => true },
      ttl: { Interaction: 600, Grant: 3600, Session: 3600, AccessToken: 600, IdToken: 600, AuthorizationCode: 60 },
      interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
      findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, ...people.get(id)?.claims }) }),
      loadExistingGrant: async (context) => {
        const { session, client } = context.oidc;
        const known = client === undefined ? undefined : session?.grantIdFor(client.clientId);
        if (known !== undefined) return await made.Grant.find(known);
        const grant = new made.Grant({ accountId: session?.accountId ?? "", clientId: client?.clientId ?? "" });
        grant.addOIDCScope("openid profile email groups");
        await grant.save();
        return grant;
      },
      renderError: (context, out) => {
        context.type = "text";
        context.body = JSON.stringify(out);
      },
    });
    made.on("grant.success", ({ oidc: { entities } }) => {
      const { sid } = (entities.AuthorizationCode ?? {}) as { readonly sid?: string };
      if (sid !== undefined) sids.push(sid);
    });
    handle = made.callback();
    return made;
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? "").split("?")[0] ?? "";
    asked.push(`${request.method} ${path}`);
    if ((await wishes.before?.(request, response)) === true) return;
    if (!path.startsWith("/interaction/")) return handle(request, response);
    const { person } = wishes;
    if (person !== undefined) people.set(person.subject, person);
    const result =
      person === undefined
        ? { error: "access_denied", error_description: "<script>alert('no')</script>" }
        : { login: { accountId: person.subject } };
    await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
  }

  return {
    issuer,
    wishes,
    get provider() {
      return provider;
    },
    asked,
    sids,
    rotate: async (another = redirect) => {
      redirect = another;
      provider = await open();
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

async function newKey(): Promise<JWK> {
  const { privateKey } = await generateKeyPair("RS256", { extractable: true });
  return { ...(await exportJWK(privateKey)), use: "sig", alg: "RS256", kid: crypto.randomUUID() };
}
