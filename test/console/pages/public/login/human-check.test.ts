/** The check that a person asks for a code: what is shown and what is sent, in each mode of the service. */

import { describe, expect, test } from "bun:test";
import {
  type Challenge,
  type CheckState,
  createHumanCheck,
  PictureNeeded,
} from "../../../../../src/console/pages/public/login/human-check.ts";
import type { Proof } from "../../../../../src/console/pages/public/login/proof.ts";

const IMAGE = "data:image/png;base64,iVBORw0KGgo=";
const PROOF: Proof = { algorithm: "SHA-256", salt: "s", target: "00", maximum: 9 };
const BOTH = { image: IMAGE, proof: PROOF };

function setup(given: Omit<Challenge, "captcha_id">, { fails = false } = {}) {
  const shown: CheckState[] = [];
  const works: { signal: AbortSignal; finish(n: number): void; onProgress(share: number): void }[] = [];
  const service = { time: 0, fetched: 0, fails };
  const check = createHumanCheck(
    {
      async fetch() {
        service.fetched++;
        if (service.fails) throw new Error("no answer");
        return { captcha_id: `id${service.fetched}`, ...given };
      },
      solve: (_, { signal, onProgress }) =>
        new Promise((resolve, reject) => {
          signal.addEventListener("abort", () => reject(new Error("given up")));
          works.push({ signal, finish: resolve, onProgress });
        }),
      now: () => service.time,
    },
    (state) => shown.push(state),
  );
  return { check, shown, works, service, last: () => shown.at(-1) };
}

async function settle(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve));
}

describe("with work and picture", () => {
  test("the work begins by itself, once, and is sent", async () => {
    const { check, works, service, shown, last } = setup(BOTH);
    check.start();
    check.start();
    await settle();
    expect(service.fetched).toBe(1);
    works[0]?.onProgress(0.25);
    expect(last()).toEqual({ kind: "working", share: 0.25, image: IMAGE });
    works[0]?.finish(7);
    await settle();
    expect(last()?.kind).toBe("solved");
    expect(await check.answer("")).toEqual({ captcha_id: "id1", captcha_code: "pow:7" });
    expect(shown.map(({ kind }) => kind)).toEqual(["fetching", "working", "working", "solved"]);
  });

  test("an answer begins by itself what was not begun, and waits for it", async () => {
    const { check, works } = setup(BOTH);
    const answer = check.answer("");
    await settle();
    works[0]?.finish(3);
    expect(await answer).toEqual({ captcha_id: "id1", captcha_code: "pow:3" });
  });

  test("who asks for the picture stops the work, and may have it done after all", async () => {
    const { check, works, service, last } = setup(BOTH);
    check.start();
    await settle();
    check.preferPicture(true);
    await settle();
    expect(works[0]?.signal.aborted).toBe(true);
    expect(last()).toEqual({ kind: "picture", image: IMAGE, hasProof: true });
    expect(await check.answer(" k7rwx ")).toEqual({ captcha_id: "id1", captcha_code: "k7rwx" });
    check.preferPicture(false);
    await settle();
    works[1]?.finish(5);
    expect(await check.answer("")).toEqual({ captcha_id: "id1", captcha_code: "pow:5" });
    expect(service.fetched).toBe(1);
  });

  test("who asks for the picture while the answer is awaited has to read it", async () => {
    const { check } = setup(BOTH);
    const answer = check.answer("");
    await settle();
    check.preferPicture(true);
    await expect(answer).rejects.toBeInstanceOf(PictureNeeded);
    await settle();
  });

  test("work that is too old is done anew", async () => {
    const { check, works, service } = setup(BOTH);
    check.start();
    await settle();
    works[0]?.finish(1);
    service.time = 5 * 60_000;
    const answer = check.answer("");
    await settle();
    works[1]?.finish(2);
    expect(await answer).toEqual({ captcha_id: "id2", captcha_code: "pow:2" });
  });

  test("a task that was sent is not sent again", async () => {
    const { check, works, last } = setup(BOTH);
    check.start();
    await settle();
    works[0]?.finish(1);
    await check.answer("");
    check.spend();
    expect(last()?.kind).toBe("idle");
    const answer = check.answer("");
    await settle();
    works[1]?.finish(2);
    expect(await answer).toMatchObject({ captcha_id: "id2" });
  });

  test("leaving the page stops the work", async () => {
    const { check, works } = setup(BOTH);
    check.start();
    await settle();
    check.stop();
    expect(works[0]?.signal.aborted).toBe(true);
  });
});

describe("with the picture only", () => {
  for (const proof of [null, undefined, { ...PROOF, algorithm: "SHA-999" }]) {
    test(`it is shown and has to be read: ${JSON.stringify(proof)}`, async () => {
      const { check, works, last } = setup({ image: IMAGE, ...(proof === undefined ? {} : { proof }) });
      check.start();
      await settle();
      expect(last()).toEqual({ kind: "picture", image: IMAGE, hasProof: false });
      await expect(check.answer(" ")).rejects.toMatchObject({ name: "PictureNeeded", isNew: false });
      expect(await check.answer("ABC")).toEqual({ captcha_id: "id1", captcha_code: "ABC" });
      expect(works.length).toBe(0);
    });
  }

  test("what was read in one that is too old is not sent; there is another", async () => {
    const { check, service, last } = setup({ image: IMAGE, proof: null });
    check.start();
    await settle();
    service.time = 5 * 60_000;
    await expect(check.answer("ABC")).rejects.toMatchObject({ name: "PictureNeeded", isNew: true });
    await settle();
    expect(service.fetched).toBe(2);
    expect(last()?.kind).toBe("picture");
  });

  test("after one was sent the next is shown; until then the old one stays in sight", async () => {
    const { check, shown } = setup({ image: IMAGE, proof: null });
    check.start();
    await settle();
    check.spend();
    await settle();
    expect(shown.slice(-2)).toMatchObject([{ kind: "picture", isOld: true }, { kind: "picture" }]);
    expect(shown.at(-1)).not.toHaveProperty("isOld");
  });
});

test("with work only there is no picture to ask for", async () => {
  const { check, works, last } = setup({ image: "", proof: PROOF });
  check.preferPicture(true);
  await settle();
  expect(last()).toEqual({ kind: "working", share: 0, image: "" });
  works[0]?.finish(4);
  expect(await check.answer("")).toMatchObject({ captcha_code: "pow:4" });
});

test("where captchas are off nothing is asked", async () => {
  const { check, last } = setup({ image: "", proof: null });
  check.start();
  await settle();
  expect(last()?.kind).toBe("off");
  expect(await check.answer("")).toEqual({ captcha_id: "id1", captcha_code: "" });
});

test("where the service does not answer, it is asked again at the next try", async () => {
  const { check, service, last } = setup({ image: "", proof: null }, { fails: true });
  check.start();
  await settle();
  expect(last()).toMatchObject({ kind: "failed", failure: new Error("no answer") });
  await expect(check.answer("")).rejects.toThrow("no answer");
  await settle();
  service.fails = false;
  expect(await check.answer("")).toMatchObject({ captcha_id: "id3" });
});
