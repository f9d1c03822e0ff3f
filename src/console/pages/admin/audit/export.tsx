/** The log as a file: received piece by piece, then handed to the browser to save. */

import { useEffect, useRef, useState } from "preact/hooks";
import { ApiFailure, download } from "../../../api.ts";
import { auditTexts } from "../../../texts/admin/audit.ts";
import { useAction } from "../../../ui/action.ts";
import { Button } from "../../../ui/button.tsx";
import { moment } from "../../../ui/clock.ts";
import { Failure, Notice } from "../../../ui/notice.tsx";
import { Section } from "../../../ui/page.tsx";
import { bytesText, receive } from "./download.ts";

const { export: texts } = auditTexts;

interface Saved {
  readonly name: string;
  readonly size: number;
  readonly href: string;
}

/** Exports the records between two moments; "" leaves a side open. */
export function Export({ since, until }: { readonly since: string; readonly until: string }) {
  const [bytes, setBytes] = useState(0);
  const [saved, setSaved] = useState<Saved>();
  const [isStopped, setStopped] = useState(false);
  const stop = useRef<AbortController>();
  const button = useRef<HTMLDivElement>(null);
  // A page that is left takes the transfer with it.
  useEffect(() => () => stop.current?.abort(), []);
  useEffect(() => () => (saved === undefined ? undefined : URL.revokeObjectURL(saved.href)), [saved]);

  const work = useAction(async () => {
    const controller = new AbortController();
    stop.current = controller;
    setBytes(0);
    setSaved(undefined);
    setStopped(false);
    try {
      const response = await download("GET /audit/export", { query: { since, until }, signal: controller.signal });
      const { name, content } = await receive(response, setBytes);
      const href = URL.createObjectURL(content);
      setSaved({ name, size: content.size, href });
      save(href, name);
    } catch (error) {
      if (controller.signal.aborted) setStopped(true);
      else throw error;
    }
  });

  function cancel() {
    stop.current?.abort();
    button.current?.querySelector("button")?.focus();
  }

  return (
    <Section title={texts.title}>
      <p>{since === "" && until === "" ? texts.whole : texts.range(shown(since), shown(until))}</p>
      <div class="actions" ref={button}>
        <Button busy={work.busy && texts.starting} onClick={() => void work.run()}>
          {texts.start}
        </Button>
        {work.busy ? <Button onClick={cancel}>{texts.cancel}</Button> : null}
      </div>
      {work.busy ? (
        <>
          <progress aria-label={texts.title} />
          <p class="quiet">{texts.received(bytesText(bytes))}</p>
        </>
      ) : null}
      {isStopped && !work.busy ? (
        <Notice kind="info">
          <p>{texts.cancelled}</p>
        </Notice>
      ) : null}
      {saved === undefined ? null : (
        <Notice kind="good">
          <p>{texts.done(saved.name, bytesText(saved.size))}</p>
          <a href={saved.href} download={saved.name} data-native>
            {texts.again}
          </a>
        </Notice>
      )}
      {work.failure === undefined || work.failure instanceof ApiFailure ? (
        <Failure failure={work.failure} />
      ) : (
        <Notice kind="bad">
          <p>{texts.broken}</p>
        </Notice>
      )}
    </Section>
  );
}

function shown(instant: string): string {
  return instant === "" || Number.isNaN(Date.parse(instant)) ? instant : moment(instant);
}

/** Has the browser save it, as if a link to it were followed. */
function save(href: string, name: string): void {
  const link = document.createElement("a");
  link.href = href;
  link.download = name;
  link.click();
}
