/**
 * Whether time tells which names exist: for each route that must not, the ratio of the median times of known and unknown
 * names, measured in turns. `bun test/bench/enumeration.ts [rounds]`. A ratio between 0.9 and 1.1 is the aim.
 */

import { cpus } from "node:os";
import { sql } from "drizzle-orm";
import { addAdmin } from "../../src/auth/admin.ts";
import { issueCaptcha } from "../../src/auth/challenges.ts";
import { HOUR, MINUTE } from "../../src/core/clock.ts";
import { VERSION } from "../../src/version.ts";
import { ADMIN_PASSWORD, createTestApp, type TestApp } from "../support/app.ts";
import { stopTestServer } from "../support/database.ts";

const ROUNDS = Number(process.argv[2] ?? 200);
/** Rounds before the first that counts: connections, prepared statements and compiled code come first. */
const WARM_UP = 20;

interface Subject {
  readonly route: string;
  /** Makes both names ready for one more request, untimed. */
  readonly prepare: (app: TestApp) => Promise<void>;
  readonly body: (app: TestApp, username: string) => Promise<Record<string, string>>;
  readonly names: readonly [known: string, unknown: string];
}

const SUBJECTS: readonly Subject[] = [
  {
    route: "/auth/otp/send",
    names: ["known", "unknown"],
    prepare: async (app) => {
      await app.db.execute(sql`delete from otp_codes`);
    },
    body: async (app, username) => {
      const { captchaId, answer } = await app.captcha();
      return { username, captcha_id: captchaId, captcha_code: answer };
    },
  },
  {
    route: "/auth/otp/login",
    names: ["known", "unknown"],
    // A code is out for both, as an attacker would see to first.
    prepare: async (app) => {
      await app.db.execute(sql`delete from otp_codes`);
      for (const username of ["known", "unknown"]) {
        const { captchaId, answer } = await app.captcha();
        const body = { username, captcha_id: captchaId, captcha_code: answer };
        await app.anonymous().call("POST", "/auth/otp/send", body);
      }
    },
    body: async (_app, username) => ({ username, code: "00000000" }),
  },
  {
    route: "/auth/admin/login",
    names: ["keeper", "nobody"],
    prepare: async (app) => {
      await app.db.execute(sql`delete from login_locks`);
    },
    body: async (_app, username) => ({ username, password: "wrong wrong wrong wrong" }),
  },
  {
    route: "/auth/admin/forgot",
    names: ["keeper", "nobody"],
    prepare: async (app) => {
      await app.db.execute(sql`delete from login_locks`);
    },
    body: async (_app, username) => ({ username }),
  },
];

const app = await createTestApp({ UAM_SESSION_TTL: "30d" });
await app.user("known");
await addAdmin(app.system, "keeper", "keeper@example.org", ADMIN_PASSWORD);
await issueCaptcha(app.services);

const cpu = `${cpus().length} x ${cpus()[0]?.model.trim()}`;
console.log(`uam ${VERSION}, bun ${Bun.version}, ${process.platform} ${process.arch}, ${cpu}; ${ROUNDS} rounds`);
console.log(`floor: a request that does nothing takes ${format(await floor(app))}`);
for (const subject of SUBJECTS) {
  const [known, unknown] = await measure(app, subject);
  const ratio = median(known) / median(unknown);
  const verdict = ratio >= 0.9 && ratio <= 1.1 ? "ok" : "TELLS";
  const times = `known ${format(median(known))}, unknown ${format(median(unknown))}`;
  console.log(`${subject.route.padEnd(20)} ratio ${ratio.toFixed(3)} ${verdict.padEnd(6)} ${times}`);
}
await app.close();
await stopTestServer();

async function measure(app: TestApp, subject: Subject): Promise<readonly [number[], number[]]> {
  const known: number[] = [];
  const unknown: number[] = [];
  for (let round = 0; round < WARM_UP + ROUNDS; round++) {
    app.clock.advance(HOUR + MINUTE);
    await subject.prepare(app);
    // By turns, so that neither always comes first.
    const order = round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const);
    for (const index of order) {
      const body = await subject.body(app, subject.names[index]);
      const began = performance.now();
      const { status } = await app.anonymous().call("POST", subject.route, body);
      const took = performance.now() - began;
      if (status >= 429) throw new Error(`${subject.route} answered ${status}`);
      if (round >= WARM_UP) (index === 0 ? known : unknown).push(took);
    }
  }
  return [known, unknown];
}

async function floor(app: TestApp): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < 500; n++) {
    const began = performance.now();
    await app.anonymous().call("GET", "/healthz");
    times.push(performance.now() - began);
  }
  return median(times);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function format(milliseconds: number): string {
  return `${milliseconds.toFixed(3)} ms`;
}
