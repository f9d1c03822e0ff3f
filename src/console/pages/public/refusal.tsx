/** Why the service refused somebody without a session, and how long that lasts. */

import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { ApiFailure } from "../../api.ts";
import { common } from "../../texts/common.ts";
import { publicTexts } from "../../texts/public.ts";
import { announce } from "../../ui/announce.tsx";
import { now, useNow } from "../../ui/clock.ts";
import { Notice, sentenceOf } from "../../ui/notice.tsx";

/** A form's own texts for some refusals. */
export interface Saying {
  readonly title?: string;
  readonly text: string;
  /** Ways out. */
  readonly more?: ComponentChildren;
}

interface RefusalProps {
  /** Nothing is shown while it is undefined. */
  readonly failure: unknown;
  /** Instead of the words that all pages have. */
  readonly saying?: Saying | undefined;
}

/** A refusal in a sentence; where it ends by itself, the time runs down beside it. */
export function Refusal({ failure, saying }: RefusalProps) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (failure !== undefined) place.current?.scrollIntoView({ block: "nearest" });
  }, [failure]);
  if (failure === undefined) return null;
  const wait = failure instanceof ApiFailure ? failure.retryAfter : undefined;
  const id = failure instanceof ApiFailure && failure.status >= 500 ? failure.requestId : "";
  return (
    <div ref={place}>
      <Notice kind="bad" {...(saying?.title === undefined ? {} : { title: saying.title })}>
        <p>{saying?.text ?? textOf(failure)}</p>
        {wait === undefined ? null : <Countdown key={String(wait)} seconds={wait} of={failure} />}
        {saying?.more}
        {id === "" ? null : <p class="quiet">{common.failure.requestId(id)}</p>}
      </Notice>
    </div>
  );
}

/** The sentence without the time, which is shown as it passes. */
function textOf(failure: unknown): string {
  const own = failure instanceof ApiFailure ? common.reasons[failure.reason] : undefined;
  return own ?? sentenceOf(failure);
}

/** The reason of a refusal; "" for anything else. */
export function reasonOf(failure: unknown): string {
  return failure instanceof ApiFailure ? failure.reason : "";
}

/** How long it still is. A screen reader is told at the end, not each second. */
function Countdown({ seconds, of }: { readonly seconds: number; readonly of: unknown }) {
  const end = useMemo(() => now() + seconds * 1000, [of]);
  const left = Math.ceil((end - useNow(1000)) / 1000);
  const isOver = left <= 0;
  useEffect(() => {
    if (isOver) announce(publicTexts.again);
  }, [isOver]);
  return (
    <p role="timer" aria-live="off">
      {isOver ? publicTexts.again : common.failure.wait(Math.min(left, seconds))}
    </p>
  );
}
