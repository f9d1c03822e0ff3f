/** The outcome of an action, shown until the reader leaves or closes it. */

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { ApiFailure } from "../api.ts";
import { common } from "../texts/common.ts";
import { Button } from "./button.tsx";

interface NoticeProps {
  readonly kind: "good" | "bad" | "warn" | "info";
  readonly title?: string;
  readonly children?: ComponentChildren;
}

/** A notice. A bad one is read out at once, the others when the reader is silent. */
export function Notice({ kind, title, children }: NoticeProps) {
  return (
    <div class={`notice ${kind}`} role={kind === "bad" ? "alert" : "status"}>
      {title === undefined ? null : <p class="notice-title">{title}</p>}
      {children}
    </div>
  );
}

/** The message for a failure: our own words where there are any, else the service's. */
export function sentenceOf(failure: unknown): string {
  if (!(failure instanceof ApiFailure)) return common.failure.unknown;
  const own = common.reasons[failure.reason];
  const wait = failure.retryAfter === undefined ? "" : ` ${common.failure.wait(failure.retryAfter)}`;
  return own === undefined ? failure.message.replace(/(?<![.?!])$/, ".") : `${own}${wait}`;
}

interface FailureProps {
  /** Nothing is shown while it is undefined. */
  readonly failure: unknown;
  readonly onRetry?: () => void;
}

/** A failure, in a sentence, with a way to try again where there is one. */
export function Failure({ failure, onRetry }: FailureProps) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (failure !== undefined) place.current?.scrollIntoView({ block: "nearest" });
  }, [failure]);
  if (failure === undefined || failure === null) return null;
  const id = failure instanceof ApiFailure && failure.status >= 500 ? failure.requestId : "";
  return (
    <div ref={place}>
      <Notice kind="bad">
        <p>{sentenceOf(failure)}</p>
        {id === "" ? null : <p class="quiet">{common.failure.requestId(id)}</p>}
        {onRetry === undefined ? null : <Button onClick={onRetry}>{common.retry}</Button>}
      </Notice>
    </div>
  );
}
