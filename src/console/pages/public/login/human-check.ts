/** The check that a person asks for a code: the browser's work, or a picture that is read. Either is good for one try and five minutes. */

import type { Proof } from "./proof.ts";

/** The service's task; none at all where captchas are off. */
export interface Challenge {
  readonly captcha_id: string;
  readonly image: string;
  readonly proof?: Proof | null;
}

/** The fields sent with a request for a code. */
export interface CheckAnswer {
  readonly captcha_id: string;
  readonly captcha_code: string;
}

export interface PictureState {
  readonly kind: "picture";
  readonly image: string;
  readonly hasProof: boolean;
  /** Whether another one is on its way. */
  readonly isOld?: true;
}

/** The visible state. `image` is "" where there is no picture. */
export type CheckState =
  | { readonly kind: "idle" | "fetching" | "off" }
  | { readonly kind: "working" /** From 0 to 1, at most. */; readonly share: number; readonly image: string }
  | { readonly kind: "solved"; readonly image: string }
  | PictureState
  | { readonly kind: "failed"; readonly failure: unknown; readonly image: string };

/** The picture has to be read first: it was not, or it was too old and there is another. */
export class PictureNeeded extends Error {
  override readonly name = "PictureNeeded";
  readonly isNew: boolean;

  constructor(isNew: boolean) {
    super("The picture has to be read first");
    this.isNew = isNew;
  }
}

interface Needs {
  fetch(signal: AbortSignal): Promise<Challenge>;
  solve(
    proof: Proof,
    watch: { readonly signal: AbortSignal; readonly onProgress: (share: number) => void },
  ): Promise<number>;
  now(): number;
}

export interface HumanCheck {
  /** Begins, unless it has begun; called at each letter of the name. */
  start(): void;
  /** Forgets the task, which was used or is too old, and begins with another. */
  renew(): void;
  /** The task was sent: it is not good again. A picture gets a successor at once, work when it is needed. */
  spend(): void;
  /** Gives up whatever is under way. */
  stop(): void;
  /** The picture instead of the work, or the other way round. */
  preferPicture(wanted: boolean): void;
  /** Whether the last answer was the browser's work, which can be done again without asking anybody. */
  isByProof(): boolean;
  /** The answer to send, once it is known. Rejects with PictureNeeded, or with the reason why there is no task. */
  answer(read: string): Promise<CheckAnswer>;
}

interface Round {
  readonly abort: AbortController;
  readonly begunAt: number;
  readonly challenge: Promise<Challenge>;
  work?: Work | undefined;
  isSeen?: boolean;
}

interface Work {
  readonly abort: AbortController;
  readonly done: Promise<number>;
}

/** The service takes an answer for 5 minutes; the request needs some of it. */
const FRESH = 4.5 * 60_000;

/** A check whose states are given to `tell`. */
export function createHumanCheck(needs: Needs, tell: (state: CheckState) => void): HumanCheck {
  return new Check(needs, tell);
}

class Check implements HumanCheck {
  readonly #needs: Needs;
  readonly #tell: (state: CheckState) => void;
  #round: Round | undefined;
  #wantsPicture = false;
  #byProof = false;
  #shown: CheckState = { kind: "idle" };

  constructor(needs: Needs, tell: (state: CheckState) => void) {
    this.#needs = needs;
    this.#tell = tell;
  }

  start(): void {
    if (this.#round === undefined) this.#begin();
  }

  renew(): void {
    this.#begin();
  }

  spend(): void {
    if (this.#shown.kind === "picture") {
      this.#begin();
      return;
    }
    this.stop();
    this.#show({ kind: "idle" });
  }

  stop(): void {
    giveUp(this.#round);
    this.#round = undefined;
  }

  preferPicture(wanted: boolean): void {
    this.#wantsPicture = wanted;
    const current = this.#round;
    if (current === undefined) {
      this.#begin();
      return;
    }
    if (wanted) giveUpWork(current);
    current.challenge.then(
      (challenge) => this.#present(current, challenge),
      () => {},
    );
  }

  isByProof(): boolean {
    return this.#byProof;
  }

  async answer(read: string): Promise<CheckAnswer> {
    const round = this.#round;
    const isStale = round === undefined || this.#needs.now() - round.begunAt > FRESH;
    const wasSeen = round?.isSeen === true;
    const current = isStale ? this.#begin() : round;
    const challenge = await current.challenge;
    const { captcha_id } = challenge;
    const way = wayOf(challenge, this.#wantsPicture);
    this.#byProof = way === "proof";
    if (way === "off") return { captcha_id, captcha_code: "" };
    if (way === "proof") return { captcha_id, captcha_code: `pow:${await resultOf(this.#workOf(current, challenge))}` };
    if (isStale || read.trim() === "") throw new PictureNeeded(isStale && wasSeen);
    return { captcha_id, captcha_code: read.trim() };
  }

  #show(state: CheckState): void {
    this.#shown = state;
    this.#tell(state);
  }

  #begin(): Round {
    giveUp(this.#round);
    const abort = new AbortController();
    const begun: Round = { abort, begunAt: this.#needs.now(), challenge: this.#needs.fetch(abort.signal) };
    this.#round = begun;
    // The picture before stays visible: the focused element must not go.
    this.#show(this.#shown.kind === "picture" ? { ...this.#shown, isOld: true } : { kind: "fetching" });
    begun.challenge.then(
      (challenge) => this.#present(begun, challenge),
      (failure: unknown) => this.#fail(begun, failure, ""),
    );
    return begun;
  }

  /** Shows the picture, or has the work done. */
  #present(current: Round, challenge: Challenge): void {
    if (this.#round !== current) return;
    const { image } = challenge;
    const way = wayOf(challenge, this.#wantsPicture);
    if (way === "off") {
      this.#show({ kind: "off" });
    } else if (way === "picture") {
      current.isSeen = true;
      this.#show({ kind: "picture", image, hasProof: proofOf(challenge) !== null });
    } else {
      this.#showWork(current, challenge);
    }
  }

  #showWork(current: Round, challenge: Challenge): void {
    const { image } = challenge;
    this.#show({ kind: "working", share: 0, image });
    const { abort, done } = this.#workOf(current, challenge);
    done.then(
      () => {
        if (!abort.signal.aborted) this.#show({ kind: "solved", image });
      },
      (failure: unknown) => {
        if (!abort.signal.aborted) this.#fail(current, failure, image);
      },
    );
  }

  /** The work on the task, begun once unless it was given up. */
  #workOf(current: Round, challenge: Challenge): Work {
    if (current.work !== undefined) return current.work;
    const proof = proofOf(challenge);
    if (proof === null) throw new Error("There is no work to do");
    const abort = new AbortController();
    const onProgress = (share: number) => {
      if (!abort.signal.aborted) this.#show({ kind: "working", share, image: challenge.image });
    };
    current.work = { abort, done: this.#needs.solve(proof, { signal: abort.signal, onProgress }) };
    return current.work;
  }

  #fail(current: Round, failure: unknown, image: string): void {
    if (this.#round !== current || current.abort.signal.aborted) return;
    this.#round = undefined;
    this.#show({ kind: "failed", failure, image });
  }
}

function giveUpWork(current: Round | undefined): void {
  current?.work?.abort.abort();
  if (current !== undefined) current.work = undefined;
}

function giveUp(current: Round | undefined): void {
  current?.abort.abort();
  giveUpWork(current);
}

/** The result of the work; if somebody asked for the picture meanwhile, that has to be read. */
async function resultOf({ abort, done }: Work): Promise<number> {
  try {
    return await done;
  } catch (error) {
    throw abort.signal.aborted ? new PictureNeeded(false) : error;
  }
}

function wayOf(challenge: Challenge, wantsPicture: boolean): "off" | "picture" | "proof" {
  const hasProof = proofOf(challenge) !== null;
  if (challenge.image === "") return hasProof ? "proof" : "off";
  return hasProof && !wantsPicture ? "proof" : "picture";
}

/** The work, where there is some that we can do. */
function proofOf({ proof }: Challenge): Proof | null {
  return proof?.algorithm === "SHA-256" ? proof : null;
}
