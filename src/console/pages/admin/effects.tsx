/** The effects of a change, before it is made. */

import type { ComponentChildren } from "preact";
import { useInstallation } from "../../installation.ts";
import { effectTexts } from "../../texts/admin/user.ts";
import { endMoment } from "../../ui/clock.ts";
import { Typed } from "../../ui/typed.tsx";
import type { UserPreview } from "./change.ts";
import { toldTimes } from "./told-times.ts";

interface EffectsProps {
  readonly preview: UserPreview;
  /** Whether they speak of the time when access ends. */
  readonly isDated?: boolean;
}

/** The effects in sentences, and behind them what would change on the host. */
export function Effects({ preview, isDated = false }: EffectsProps) {
  const { effects, host, expire_at } = preview;
  return (
    <Will sentences={effects}>
      {isDated && expire_at !== null ? <p class="quiet">{effectTexts.until(endMoment(expire_at))}</p> : null}
      <Planned changes={host} />
    </Will>
  );
}

/** The changes on the host, as they would be logged; nothing if there are none. */
export function Planned({ changes }: { readonly changes: readonly string[] }) {
  if (changes.length === 0) return null;
  return (
    <details>
      <summary>{effectTexts.host(changes.length)}</summary>
      <ol class="plan">
        {changes.map((line, index) => (
          <li key={index}>
            <code>{line}</code>
          </li>
        ))}
      </ol>
    </details>
  );
}

/** Beside effects: that those on the host are only logged, where that is so. */
export function DryRun() {
  return useInstallation()?.dry_run ? <p class="warned">{effectTexts.dryRun}</p> : null;
}

interface WillProps {
  readonly sentences: readonly string[];
  readonly children?: ComponentChildren;
}

/** The effects, in sentences, and that a dry run only logs those on the host. */
export function Will({ sentences, children }: WillProps) {
  return (
    <section class="will" aria-label={effectTexts.title}>
      <h3>{effectTexts.title}</h3>
      <ul>
        {sentences.map((sentence) => (
          <li key={sentence}>
            <Typed text={toldTimes(sentence)} />
          </li>
        ))}
      </ul>
      <DryRun />
      {children}
    </section>
  );
}
