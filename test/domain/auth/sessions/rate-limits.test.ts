import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createRateLimits, type LimitKind, MAX_ADDRESSES } from "../../../../src/domain/auth/sessions/rate-limits.ts";
import { UamError } from "../../../../src/shared/errors.ts";
import { type Clock, HOUR, MINUTE } from "../../../../src/shared/time/clock.ts";

const TABLE: readonly (readonly [LimitKind, number, number])[] = [
  ["captcha", 30, MINUTE],
  ["code", 30, HOUR],
  ["login", 60, HOUR],
  ["forgot", 10, HOUR],
  ["application", 10, HOUR],
];

describe("createRateLimits", () => {
  test.each(TABLE)("take() allows %s %d times in %d ms, and again once the first is that old", (kind, most, period) => {
    const clock = testClock();
    const limits = createRateLimits({ enabled: true, clock });
    for (let count = 0; count < most; count++) {
      limits.take(kind, "192.0.2.1");
      clock.advance(1000);
    }
    const refused = refusal(() => limits.take(kind, "192.0.2.1"));
    expect(refused).toMatchObject({ code: "limited", retryAfter: period / 1000 - most });
    clock.advance(period - most * 1000 - 1);
    expect(refusal(() => limits.take(kind, "192.0.2.1"))).toMatchObject({ retryAfter: 1 });
    clock.advance(1);
    limits.take(kind, "192.0.2.1");
    expect(refusal(() => limits.take(kind, "192.0.2.1"))).toMatchObject({ retryAfter: 1 });
  });

  test("take() counts kinds and addresses separately", () => {
    const limits = createRateLimits({ enabled: true, clock: testClock() });
    use(limits.take, "forgot", "192.0.2.1", 10);
    limits.take("application", "192.0.2.1");
    limits.take("forgot", "192.0.2.2");
    expect(refusal(() => limits.take("forgot", "192.0.2.1"))).toBeInstanceOf(UamError);
  });

  test("take() counts an IPv6 /64 as one, and IPv4 inside IPv6 as IPv4", () => {
    const limits = createRateLimits({ enabled: true, clock: testClock() });
    for (let host = 1; host <= 10; host++) limits.take("forgot", `2001:db8:0:1::${host.toString(16)}`);
    expect(refusal(() => limits.take("forgot", "2001:db8:0:1:ffff:ffff:ffff:ffff"))).toBeInstanceOf(UamError);
    limits.take("forgot", "2001:db8:0:2::1");
    use(limits.take, "forgot", "::ffff:192.0.2.1", 10);
    expect(refusal(() => limits.take("forgot", "192.0.2.1"))).toBeInstanceOf(UamError);
    limits.take("forgot", "::ffff:192.0.2.2");
  });

  test("take() does not prolong the wait of a client that keeps asking", () => {
    const clock = testClock();
    const limits = createRateLimits({ enabled: true, clock });
    use(limits.take, "forgot", "192.0.2.1", 10);
    for (let minute = 0; minute < 59; minute++) {
      clock.advance(MINUTE);
      expect(refusal(() => limits.take("forgot", "192.0.2.1"))).toBeInstanceOf(UamError);
    }
    clock.advance(MINUTE);
    limits.take("forgot", "192.0.2.1");
  });

  test("take() refuses nobody for longer than the period when the clock is set back", () => {
    const clock = testClock();
    const limits = createRateLimits({ enabled: true, clock });
    use(limits.take, "forgot", "192.0.2.1", 10);
    clock.advance(-24 * HOUR);
    limits.take("forgot", "192.0.2.1");
  });

  test("take() survives a flood of addresses and still limits the busy one", () => {
    const limits = createRateLimits({ enabled: true, clock: testClock() });
    use(limits.take, "login", "192.0.2.1", 59);
    for (let index = 0; index < 3 * MAX_ADDRESSES; index++) {
      limits.take("login", `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`);
      if (index === MAX_ADDRESSES / 2) limits.take("login", "192.0.2.1");
      if (index === MAX_ADDRESSES) expect(refusal(() => limits.take("login", "192.0.2.1"))).toBeInstanceOf(UamError);
    }
    limits.take("login", "192.0.2.1");
  });

  test("take() never throws anything but limited, whatever the address", () => {
    const limits = createRateLimits({ enabled: true, clock: testClock() });
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.ipV6(), fc.ipV4Extended()), (address) => {
        expect(refusal(() => limits.take("captcha", address))?.code ?? "limited").toBe("limited");
      }),
    );
  });

  test("take() allows everything when limits are off", () => {
    use(createRateLimits({ enabled: false, clock: testClock() }).take, "forgot", "192.0.2.1", 1000);
  });
});

function use(take: (kind: LimitKind, address: string) => void, kind: LimitKind, address: string, times: number): void {
  for (let count = 0; count < times; count++) take(kind, address);
}

function refusal(action: () => void): UamError | undefined {
  try {
    action();
    return undefined;
  } catch (error) {
    if (error instanceof UamError) return error;
    throw error;
  }
}

function testClock(): Clock & { advance(milliseconds: number): void } {
  let time = Date.parse("2026-11-20T08:00:00Z");
  return {
    now: () => new Date(time),
    advance(milliseconds) {
      time += milliseconds;
    },
  };
}
