/** What would happen, before it does. */

import { effectTexts } from "../../texts/admin-user.ts";
import { Typed } from "../../ui/typed.tsx";
import type { UserPreview } from "./change.ts";

/** The effects in sentences, and behind them what would change on the host. */
export function Effects({ preview: { effects, host } }: { readonly preview: UserPreview }) {
  return (
    <section class="will" aria-label={effectTexts.title}>
      <h3>{effectTexts.title}</h3>
      <ul>
        {effects.map((sentence) => (
          <li key={sentence}>
            <Typed text={sentence} />
          </li>
        ))}
      </ul>
      {host.length === 0 ? null : (
        <details>
          <summary>{effectTexts.host(host.length)}</summary>
          <ol class="plan">
            {host.map((line, index) => (
              <li key={index}>
                <code>{line}</code>
              </li>
            ))}
          </ol>
        </details>
      )}
    </section>
  );
}
