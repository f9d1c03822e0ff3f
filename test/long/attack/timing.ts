/**
 * Whether the time that a comparison takes tells how much of a secret was right: wrong at the first character and wrong at the last, in
 * turns drawn at random, held against each other by Welch's t-test as dudect does (Reparaz, Balasch and Verbauwhede, 2017).
 */

import { createPasswordHasher } from "../../../src/domain/auth/administrators/passwords.ts";
import { sameAnswer } from "../../../src/domain/auth/codes/captcha-id.ts";
import { fleetSecrets } from "../../../src/domain/wire/fleet-key.ts";
import { ADMIN_PASSWORD, createTestApp, type TestApp } from "../../support/app.ts";
import { createRandom, type Random } from "../closings/random.ts";

/** dudect's own: beyond it a difference is certain. */
const CERTAIN = 4.5;
/** The slowest samples are those in which the machine did something else. */
const KEPT = 0.9;

interface Subject {
  readonly name: string;
  /** Samples of each kind, and how often one sample repeats what it measures. */
  readonly samples: number;
  readonly repeat: number;
  /** Compares the true secret with a guess that is wrong in the first or in the last character. */
  readonly compare: (guess: string) => unknown;
  readonly secret: string;
  /** One of these, which is not the right one, takes its place. */
  readonly alphabet: string;
}

/** What could be told apart, a line each. */
export async function timing(tell: (line: string) => void, seed: number): Promise<readonly string[]> {
  const app = await createTestApp({ UAM_RATE_LIMIT: "off" });
  try {
    const random = createRandom(seed);
    const control = await measure(CONTROL, random);
    tell(`${CONTROL.name}: t = ${control.toFixed(1)}`);
    if (Math.abs(control) < CERTAIN) throw new Error("a comparison that stops early is not found by this");
    const found: string[] = [];
    for (const subject of await subjects(app)) {
      const t = await measure(subject, random);
      tell(`${subject.name}: t = ${t.toFixed(1)} (${subject.samples} samples of each kind)`);
      if (Math.abs(t) >= CERTAIN) found.push(`${subject.name}: t = ${t.toFixed(1)}`);
    }
    return found;
  } finally {
    await app.close();
  }
}

const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const PLAIN = "abcdefghijklmnopqrstuvwxyz0123456789";

/** What must be found: it stops at the first character that differs. */
const CONTROL: Subject = {
  name: "a comparison that stops early, as a control",
  samples: 20_000,
  repeat: 100,
  secret: PLAIN,
  alphabet: PLAIN,
  compare: (guess) => {
    for (let at = 0; at < PLAIN.length; at++) if (guess.charCodeAt(at) !== PLAIN.charCodeAt(at)) return at;
    return -1;
  },
};

async function subjects(app: TestApp): Promise<readonly Subject[]> {
  const admin = await app.admin();
  const wanted = { name: "timed", role: "auditor", days: 30, networks: [] };
  const made = await admin.call("POST", "/tokens", { ...wanted, password: ADMIN_PASSWORD });
  const hasher = createPasswordHasher();
  const code = "4719";
  const hash = await hasher.hashCode(code);
  const fleet = fleetSecrets(app.system.seal);
  const [moment = "", mac = ""] = fleet.nonce(7, 1_700_000_000_000).split(".");
  const ask = (headers: Record<string, string>) => app.anonymous().call("GET", "/auth/me", undefined, headers);
  const [name = "", session = ""] = admin.cookie.split("=");
  return [
    {
      name: "the answer to a captcha",
      ...{ samples: 40_000, repeat: 20, secret: "k7m2xq", alphabet: PLAIN },
      compare: (guess) => sameAnswer(guess, "k7m2xq"),
    },
    {
      name: "the seal of an agent's nonce",
      ...{ samples: 40_000, repeat: 5, secret: mac, alphabet: BASE64 },
      compare: (guess) => fleet.nonceMoment(7, `${moment}.${guess}`),
    },
    {
      name: "a session's cookie",
      ...{ samples: 4000, repeat: 1, secret: session, alphabet: BASE64 },
      compare: (guess) => ask({ cookie: `${name}=${guess}` }),
    },
    {
      name: "a machine's token",
      ...{ samples: 4000, repeat: 1, secret: made.body.data.token.slice(4), alphabet: PLAIN },
      compare: (guess) => ask({ authorization: `Bearer uam_${guess}` }),
    },
    {
      name: "a one-time code",
      ...{ samples: 300, repeat: 1, secret: code, alphabet: "0123456789" },
      compare: (guess) => hasher.verifyCode(hash, guess),
    },
  ];
}

/** The t value of the two kinds of guesses. */
async function measure(subject: Subject, random: Random): Promise<number> {
  const { secret, alphabet, samples } = subject;
  const wrongAt = (at: number): string => {
    const others = [...alphabet].filter((character) => character !== secret[at]);
    return secret.slice(0, at) + random.pick(others) + secret.slice(at + 1);
  };
  const times: [number[], number[]] = [[], []];
  for (let warmUp = 0; warmUp < samples / 20; warmUp++) await timed(subject, wrongAt(warmUp % secret.length));
  while (times[0].length < samples || times[1].length < samples) {
    const kind = random.onceIn(2) ? 0 : 1;
    times[kind].push(await timed(subject, wrongAt(kind === 0 ? 0 : secret.length - 1)));
  }
  return welch(crop(times[0]), crop(times[1]));
}

async function timed({ compare, repeat }: Subject, guess: string): Promise<number> {
  const begin = performance.now();
  for (let count = 1; count < repeat; count++) compare(guess);
  await compare(guess);
  return performance.now() - begin;
}

function crop(times: readonly number[]): readonly number[] {
  return times.toSorted((one, other) => one - other).slice(0, Math.floor(times.length * KEPT));
}

function welch(one: readonly number[], other: readonly number[]): number {
  const [a, b] = [moments(one), moments(other)];
  return (a.mean - b.mean) / Math.sqrt(a.variance / one.length + b.variance / other.length);
}

function moments(values: readonly number[]): { readonly mean: number; readonly variance: number } {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1);
  return { mean, variance };
}
