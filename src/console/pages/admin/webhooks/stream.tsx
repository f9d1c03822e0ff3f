/** The stream of all audit records, which is set up on the host. */

import type { AnswerOf } from "../../../api.ts";
import { webhooksTexts } from "../../../texts/admin/webhooks.ts";
import { Section } from "../../../ui/page.tsx";
import { Time } from "../../../ui/time.tsx";
import { Typed } from "../../../ui/typed.tsx";

const { stream: texts, failing, lag: behind, never } = webhooksTexts;

export function Stream({ stream }: { readonly stream: AnswerOf<"GET /webhooks">["stream"] }) {
  if (stream === null) {
    return (
      <Section title={texts.title}>
        <p>{texts.none}</p>
      </Section>
    );
  }
  const { target, lag, failing_since: since, last_error: error, last_delivered_at: at } = stream;
  return (
    <Section title={texts.title}>
      <dl class="facts">
        <dt>{texts.target}</dt>
        <dd>
          <Typed text={target} />
        </dd>
        <dt>{texts.state}</dt>
        <dd>
          {since === null ? (
            texts.well
          ) : (
            <>
              {failing} <Time at={since} />: <Typed text={error} />
            </>
          )}
        </dd>
        <dt>{texts.lag}</dt>
        <dd>{behind(lag)}</dd>
        <dt>{texts.delivered}</dt>
        <dd>{at === null ? never : <Time at={at} />}</dd>
      </dl>
    </Section>
  );
}
