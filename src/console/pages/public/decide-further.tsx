/** Further answers in a review. Each is behind a button of its own, so that none is given by a thumb that slipped. */

import { useState } from "preact/hooks";
import { instantOf, localOf } from "../../local-time.ts";
import { decideTexts as texts } from "../../texts/decide.ts";
import { Button } from "../../ui/button.tsx";
import { now, zone } from "../../ui/clock.ts";
import { Input } from "../../ui/field.tsx";

interface ShortenProps {
  readonly name: string;
  readonly isSending: boolean;
  /** Is told the end of the day. */
  readonly onDay: (until: string) => void;
}

/** That somebody needs the access, but only until a day. */
export function Shorten({ name, isSending, onDay }: ShortenProps) {
  const { shorten } = texts;
  const [day, setDay] = useState("");
  const [error, setError] = useState<string>();
  return (
    <details>
      <summary class="button">{shorten.open}</summary>
      <div class="form">
        <Input
          label={shorten.day}
          hint={shorten.hint(zone())}
          error={error}
          type="date"
          min={localOf(new Date(now()).toISOString()).slice(0, 10)}
          required
          value={day}
          onValue={(value) => {
            setDay(value);
            setError(undefined);
          }}
        />
        <p class="actions">
          <Button
            kind="primary"
            busy={isSending && texts.sending}
            onClick={() => (day === "" ? setError(shorten.none) : onDay(instantOf(`${day}T23:59`, "since")))}
          >
            {shorten.send(name)}
          </Button>
        </p>
      </div>
    </details>
  );
}

interface EndProps {
  readonly name: string;
  readonly isSending: boolean;
  readonly onEnd: () => void;
}

/** That somebody does not need the access any more. */
export function End({ name, isSending, onEnd }: EndProps) {
  const { end } = texts;
  return (
    <details>
      <summary class="button">{end.open}</summary>
      <div class="form">
        <p>{end.follows}</p>
        <p class="actions">
          <Button kind="danger" busy={isSending && texts.sending} onClick={onEnd}>
            {end.send(name)}
          </Button>
        </p>
      </div>
    </details>
  );
}
