/** A list as a file: received piece by piece, then handed to the browser to save. */

import { useEffect, useRef, useState } from "preact/hooks";
import { EXPORT_FORMATS, type ExportFormat, MEDIA_TYPES } from "../../../../shared/product/export-formats.ts";
import { ApiFailure, download, type QueryOf } from "../../../api.ts";
import { exportTexts as texts } from "../../../texts/admin/export.ts";
import { useAction } from "../../../ui/action.ts";
import { Button } from "../../../ui/button.tsx";
import { Failure, Notice } from "../../../ui/notice.tsx";
import { Section } from "../../../ui/page.tsx";
import { bytesText, receive } from "./download.ts";

interface Saved {
  readonly name: string;
  readonly size: number;
  readonly href: string;
}

type Exporting = "GET /audit/export" | "GET /users/export" | "GET /access";

interface ExportProps<R extends Exporting> {
  readonly route: R;
  /** The filters of the list. */
  readonly query: QueryOf<R> & object;
  readonly isWhole: boolean;
  readonly formats?: readonly ExportFormat[];
  /** What is on record of it. */
  readonly recorded?: string;
}

/** A transfer that is under way, stopped or saved. */
function useExport<R extends Exporting>(route: R, query: QueryOf<R> & object) {
  const [bytes, setBytes] = useState(0);
  const [saved, setSaved] = useState<Saved>();
  const [isStopped, setStopped] = useState(false);
  const [format, setFormat] = useState<ExportFormat>();
  const transfer = useRef<AbortController>();
  // A page that is left takes the transfer with it.
  useEffect(() => () => transfer.current?.abort(), []);
  useEffect(() => () => (saved === undefined ? undefined : URL.revokeObjectURL(saved.href)), [saved]);
  const work = useAction(async (wanted: ExportFormat) => {
    setFormat(wanted);
    const controller = new AbortController();
    transfer.current = controller;
    setBytes(0);
    setSaved(undefined);
    setStopped(false);
    try {
      const response = await download(route, { query, accept: MEDIA_TYPES[wanted], signal: controller.signal });
      const { name, content } = await receive(response, setBytes);
      const href = URL.createObjectURL(content);
      setSaved({ name, size: content.size, href });
      save(href, name);
    } catch (error) {
      if (controller.signal.aborted) setStopped(true);
      else throw error;
    }
  });
  return { work, bytes, saved, isStopped, format, stop: () => transfer.current?.abort() };
}

/** Exports what a list shows on all its pages. */
export function Export<R extends Exporting>(props: ExportProps<R>) {
  const { route, query, isWhole, formats = EXPORT_FORMATS, recorded = texts.recorded } = props;
  const { work, bytes, saved, isStopped, format, stop } = useExport(route, query);
  const buttons = useRef<HTMLDivElement>(null);
  function cancel() {
    stop();
    buttons.current?.querySelector("button")?.focus();
  }
  return (
    <Section title={texts.title}>
      <p>
        {isWhole ? texts.whole : texts.filtered} {recorded}
      </p>
      <div class="actions" ref={buttons}>
        {formats.map((one) => (
          <Button
            key={one}
            busy={work.busy && one === format && texts.starting}
            onClick={() => void (work.busy ? undefined : work.run(one))}
          >
            {texts.formats[one]}
          </Button>
        ))}
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

/** Has the browser save it, as if a link to it were followed. */
function save(href: string, name: string): void {
  const link = document.createElement("a");
  link.href = href;
  link.download = name;
  link.click();
}
