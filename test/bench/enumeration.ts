/** Whether response times reveal which names exist: known and unknown names in turns, on each route that must not reveal it. */

import { sql } from "drizzle-orm";
import { addAdmin } from "../../src/domain/auth/administrators/add-admin.ts";
import { createPasswordHasher } from "../../src/domain/auth/administrators/passwords.ts";
import { issueCaptcha } from "../../src/domain/auth/codes/captchas.ts";
import { HOUR, MINUTE } from "../../src/shared/time/clock.ts";
import { ADMIN_PASSWORD, createTestApp, type TestApp } from "../support/app.ts";
import { describeRun, percentile, timed } from "./bench.ts";
import type { BenchOptions } from "./options.ts";

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
      await forgetAll(app);
    },
    body: async (app, username) => {
      const { captchaId, answer } = await app.captcha();
      return { username, captcha_id: captchaId, captcha_code: answer };
    },
  },
  {
    route: "/auth/otp/login",
    names: ["known", "unknown"],
    // A code has been sent for both, as an attacker would do first.
    prepare: async (app) => {
      await forgetAll(app);
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
      await forgetAll(app);
    },
    body: async (_app, username) => ({ username, password: "wrong wrong wrong wrong" }),
  },
  {
    route: "/auth/admin/forgot",
    names: ["keeper", "nobody"],
    prepare: async (app) => {
      await forgetAll(app);
    },
    body: async (_app, username) => ({ username }),
  },
];

async function forgetAll(app: TestApp): Promise<void> {
  await app.db.execute(sql`delete from otp_codes`);
  await app.db.execute(sql`delete from login_limits`);
}

/** Prints the ratio of the median times for each route; between 0.9 and 1.1 is the aim. */
export async function benchEnumeration({ calls }: BenchOptions): Promise<void> {
  // With hashes of the real cost: the cheap ones of the tests would reveal what those hide.
  const app = await createTestApp({ UAM_SESSION_TTL: "30d" }, {}, createPasswordHasher());
  console.log(`\n## Do response times reveal which names exist? ${calls} calls each\n\n${await describeRun(app)}`);
  await app.user("known");
  await addAdmin(app.system, "keeper", "keeper@example.org", ADMIN_PASSWORD);
  await issueCaptcha(app.services);
  console.log(`floor     a request that does nothing: ${format(await floor(app))}`);
  for (const subject of SUBJECTS) {
    const [known, unknown] = (await measure(app, subject, calls)).map((times) => percentile(times, 0.5));
    const ratio = Number(known) / Number(unknown);
    const verdict = ratio >= 0.9 && ratio <= 1.1 ? "ok" : "TELLS";
    const times = `known ${format(Number(known))}, unknown ${format(Number(unknown))}`;
    console.log(`${subject.route.padEnd(20)} ratio ${ratio.toFixed(3)} ${verdict.padEnd(6)} ${times}`);
  }
  await app.close();
}

async function measure(app: TestApp, subject: Subject, rounds: number): Promise<readonly [number[], number[]]> {
  const known: number[] = [];
  const unknown: number[] = [];
  for (let round = 0; round < WARM_UP + rounds; round++) {
    app.clock.advance(HOUR + MINUTE);
    await subject.prepare(app);
    // In turns, so that neither always comes first.
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
    times.push(await timed(() => app.anonymous().call("GET", "/healthz")));
  }
  return percentile(times, 0.5);
}

function format(milliseconds: number): string {
  return `${milliseconds.toFixed(3)} ms`;
}
