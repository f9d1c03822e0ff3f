/** The provider of single sign-on over HTTP: OpenID Connect's code flow by openid-client, logout tokens by jose. */

import {
  createRemoteJWKSet,
  decodeJwt,
  decodeProtectedHeader,
  customFetch as fetchOfKeys,
  type JWTVerifyGetKey,
  jwtVerify,
} from "jose";
import * as oidc from "openid-client";
import { claimAt } from "../../domain/auth/sso/claims.ts";
import { LOGIN_TTL } from "../../domain/auth/sso/login-requests.ts";
import type {
  Claims,
  LoginSecrets,
  ProvenPerson,
  ProviderLogout,
  SsoProvider,
} from "../../domain/auth/sso/provider.ts";
import type { Log } from "../../shared/log.ts";
import type { RoleRule } from "../../shared/product/role-rules.ts";
import { isPrintable } from "../../shared/text/text.ts";
import { type Clock, MINUTE, SECOND, systemClock } from "../../shared/time/clock.ts";
import { boundedFetch } from "./bounded-fetch.ts";
import { invalid, refusalOf, unavailable } from "./refusals.ts";

/** The provider's address, and the service's registration with it. */
export interface ProviderSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Where the provider sends the browser back to, to the last character. */
  readonly redirectUri: string;
  readonly scope: string;
  readonly name: string;
  readonly rules: readonly RoleRule[];
  /** Milliseconds that it may take for one answer. */
  readonly patience?: number;
}

interface Tools {
  readonly clock: Clock;
  readonly log: Log;
}

const PATIENCE = 5 * SECOND;
/** How far its clock may be from ours. */
const TOLERANCE = MINUTE;
/** For how long what it says of itself is not asked for again. */
const METADATA_TTL = 10 * MINUTE;
/** The same before a browser is sent there: better told here that the provider is away than by the browser. */
const ANSWERED_LATELY = 5 * SECOND;
/** Signatures that only the provider can make: none with a shared secret. */
const ALGORITHMS = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
];
/** OpenID Connect Core 1.0, section 2. */
const LONGEST_ID = 255;

/** The provider; nothing is asked of it before it is needed, and an answer that it does not give is asked for anew each time. */
export function createSsoProvider(settings: ProviderSettings, { clock, log }: Tools): SsoProvider {
  const { clientId, redirectUri, scope, name, rules, patience = PATIENCE } = settings;
  const discover = createDiscovery({ ...settings, patience }, clock);
  const keysAt = createKeyRing(patience);

  async function loginAddress({ state, nonce, verifier }: LoginSecrets): Promise<string> {
    const challenge = await oidc.calculatePKCECodeChallenge(verifier);
    const proof = { code_challenge: challenge, code_challenge_method: "S256" };
    const parameters = { redirect_uri: redirectUri, scope, state, nonce, ...proof };
    return oidc.buildAuthorizationUrl(await discover(ANSWERED_LATELY), parameters).href;
  }

  async function redeem(answer: URLSearchParams, { state, nonce, verifier }: LoginSecrets): Promise<ProvenPerson> {
    const config = await discover();
    const tokens = await oidc.authorizationCodeGrant(config, new URL(`${redirectUri}?${answer}`), {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
      idTokenExpected: true,
    });
    const claims: Claims | undefined = tokens.claims();
    if (claims === undefined) throw invalid("it sent no ID token");
    // The library asks for it only where there are several audiences.
    if (claims.azp !== undefined && claims.azp !== clientId) throw invalid("the ID token is for another party to use");
    requireRecent(claims.iat, clock);
    const subject = requireId(claims.sub);
    const more = isComplete(claims, rules) ? {} : await askMore(config, tokens.access_token, subject);
    const sid = claims.sid === undefined ? undefined : requireId(claims.sid);
    // Signed claims count; the rest only complete them.
    const known = { ...more, ...claims, ...addressOf(claims, more) };
    return { subject, sid, issuedAt: new Date(Number(claims.iat) * SECOND), claims: known };
  }

  async function readLogout(token: string): Promise<ProviderLogout> {
    refuseJunk(token, clientId);
    const { issuer, jwks_uri: address } = (await discover()).serverMetadata();
    if (address === undefined) throw unavailable("it names no keys");
    const { payload } = await jwtVerify(token, keysAt(safeAddress(address)), {
      issuer,
      audience: clientId,
      algorithms: ALGORITHMS,
      clockTolerance: TOLERANCE / SECOND,
      currentDate: clock.now(),
      requiredClaims: ["iat", "exp", "jti", "events"],
    });
    const logout = logoutOf(payload);
    // One that is yet to be would keep out who logs in meanwhile.
    if (logout.issuedAt.getTime() > clock.now().getTime() + TOLERANCE) throw invalid("the logout token is yet to be");
    return logout;
  }

  async function check(): Promise<void> {
    const {
      authorization_endpoint: login,
      token_endpoint: token,
      jwks_uri: keys,
    } = (await discover(0)).serverMetadata();
    if (login === undefined || token === undefined || keys === undefined) {
      throw unavailable("it does not say where logins, tokens and keys are");
    }
  }

  return {
    name,
    issuer: settings.issuer.replace(/\/+$/, ""),
    rules,
    loginAddress: (secrets) => attempt(log, () => loginAddress(secrets)),
    redeem: (answer, secrets) => attempt(log, () => redeem(answer, secrets)),
    check: () => attempt(log, check),
    readLogout: (token) => attempt(log, () => readLogout(token)),
  };
}

/** Logins take a bounded time: an older ID token, or one from the future, proves nothing. */
function requireRecent(iat: unknown, clock: Clock): void {
  const age = clock.now().getTime() - Number(iat) * SECOND;
  if (age >= -TOLERANCE && age <= LOGIN_TTL + TOLERANCE) return;
  throw invalid("the ID token was made too long ago, or is yet to be");
}

/** Whether the ID token has all that is decided by: many providers keep groups and addresses for the other request. */
function isComplete(claims: Claims, rules: readonly RoleRule[]): boolean {
  return ["email", ...rules.map(({ claim }) => claim)].every((claim) => claimAt(claims, claim) !== undefined);
}

async function askMore(config: oidc.Configuration, accessToken: string, subject: string): Promise<Claims> {
  if (config.serverMetadata().userinfo_endpoint === undefined) return {};
  return await oidc.fetchUserInfo(config, accessToken, subject);
}

/**
 * The address, and whether it is verified, of one source: the ID token's, or else the other's. That an address is verified says nothing of
 * another one; that one is not, is believed of whoever says it.
 */
function addressOf(token: Claims, more: Claims): Claims {
  const [own, other] = token.email === undefined ? [more, token] : [token, more];
  const isOther = other.email_verified !== false && other.email !== own.email;
  return { email: own.email, email_verified: own.email_verified ?? (isOther ? undefined : other.email_verified) };
}

/** The details go to the log; the caller learns only the kind of failure. */
async function attempt<T>(log: Log, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    const { refusal, what } = refusalOf(error);
    log.warn("single sign-on failed", { what, error });
    throw refusal;
  }
}

/**
 * Asks the provider what it says of itself, again after a while. Each login gets a configuration of its own, so that it also asks
 * for the keys: one that was rotated holds at once.
 */
function createDiscovery(settings: ProviderSettings & { readonly patience: number }, clock: Clock) {
  const { issuer, clientId, clientSecret, patience } = settings;
  const server = new URL(issuer);
  const isPlain = server.protocol === "http:";
  let known: { readonly at: number; readonly metadata: Promise<oidc.ServerMetadata> } | undefined;

  async function ask(): Promise<oidc.ServerMetadata> {
    const options = {
      [oidc.customFetch]: boundedFetch,
      timeout: patience / SECOND,
      execute: isPlain ? [oidc.allowInsecureRequests] : [],
    };
    const found = await oidc.discovery(server, clientId, undefined, oidc.None(), options).catch((error: unknown) => {
      throw unavailable("what it says of itself cannot be had, or is of another issuer", error);
    });
    const metadata = { ...found.serverMetadata() };
    // An issuer for the customers of many companies, such as Entra's "common", would let in any of them.
    if (new URL(metadata.issuer).href !== server.href) throw unavailable("it calls itself another issuer");
    return metadata;
  }

  return async (oldest = METADATA_TTL): Promise<oidc.Configuration> => {
    const now = clock.now().getTime();
    if (known === undefined || now < known.at || now >= known.at + oldest) {
      const asked = { at: now, metadata: ask() };
      known = asked;
      asked.metadata.catch(() => {
        if (known === asked) known = undefined;
      });
    }
    const metadata = await known.metadata;
    const methods = metadata.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
    const withSecret = methods.includes("client_secret_basic") ? oidc.ClientSecretBasic : oidc.ClientSecretPost;
    const client = {
      [oidc.clockTolerance]: TOLERANCE / SECOND,
      // The library reads the system's clock.
      [oidc.clockSkew]: Math.round((clock.now().getTime() - systemClock.now().getTime()) / SECOND),
    };
    const config = new oidc.Configuration(metadata, clientId, client, withSecret(clientSecret));
    config[oidc.customFetch] = boundedFetch;
    config.timeout = patience / SECOND;
    if (isPlain) oidc.allowInsecureRequests(config);
    // Also where TLS already says who answers: the ID token's signature is checked.
    oidc.enableNonRepudiationChecks(config);
    return config;
  };
}

/** The provider's keys for logout tokens, which anybody may send: asked for at most every few seconds. */
function createKeyRing(patience: number): (address: URL) => JWTVerifyGetKey {
  const rings = new Map<string, JWTVerifyGetKey>();
  return ({ href }) => {
    let ring = rings.get(href);
    if (ring === undefined) {
      rings.clear();
      const options = { timeoutDuration: patience, cooldownDuration: 5 * SECOND, cacheMaxAge: 10 * MINUTE };
      ring = createRemoteJWKSet(new URL(href), { ...options, [fetchOfKeys]: boundedFetch });
      rings.set(href, ring);
    }
    return ring;
  };
}

/** Throws for anything but a logout token for this service, whoever signed it: for that the provider need not be asked, nor be there. */
function refuseJunk(token: string, clientId: string): void {
  let claims: Claims;
  try {
    decodeProtectedHeader(token);
    claims = decodeJwt(token);
  } catch {
    throw invalid("it is no token");
  }
  if (![claims.aud].flat().includes(clientId)) throw invalid("the logout token is for another service");
  logoutOf(claims);
}

/** OpenID Connect Back-Channel Logout 1.0, section 2.6. */
function logoutOf(payload: Claims): ProviderLogout {
  const { events, jti, sub, sid, iat, exp, nonce } = payload;
  const isLogout = typeof events === "object" && events !== null && Object.hasOwn(events, LOGOUT_EVENT);
  if (!isLogout) throw invalid("the token is not about a logout");
  if (nonce !== undefined) throw invalid("a logout token must have no nonce");
  if (sub === undefined && sid === undefined) throw invalid("the logout token names neither a subject nor a session");
  return {
    id: requireId(jti),
    subject: sub === undefined ? undefined : requireId(sub),
    sid: sid === undefined ? undefined : requireId(sid),
    issuedAt: new Date(Number(iat) * SECOND),
    expiresAt: new Date(Number(exp) * SECOND),
  };
}

const LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout";

/** An identifier of a person or a session is stored and recorded: a short text that a terminal can show. */
function requireId(value: unknown): string {
  const isSound = typeof value === "string" && value !== "" && value.length <= LONGEST_ID && isPrintable(value);
  if (!isSound) throw invalid("an identifier is no text of 1 to 255 characters");
  return value;
}

function safeAddress(text: string): URL {
  const url = new URL(text);
  const isHere = ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname);
  if (url.protocol === "https:" || (url.protocol === "http:" && isHere)) return url;
  throw unavailable("its keys are not behind https");
}
