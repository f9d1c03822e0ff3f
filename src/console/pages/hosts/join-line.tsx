/** A line that was just made: to be run on the host now, because it is never shown again; and whether the host has joined. */

import { useEffect, useRef } from "preact/hooks";
import { hostPage } from "../../../shared/product/pages.ts";
import { forgetAnswers } from "../../signed-in.tsx";
import { hostTexts } from "../../texts/hosts/hosts.ts";
import { announce } from "../../ui/announce.tsx";
import { Button } from "../../ui/button.tsx";
import { clockTime, useNow } from "../../ui/clock.ts";
import { Copyable } from "../../ui/copy.tsx";
import { useApi } from "../../use-api.tsx";
import type { MadeLine } from "./add-host.tsx";

const { line: texts } = hostTexts;

/** How often it is asked whether the host has joined, in milliseconds. */
const ASKED = 3000;
const SECOND = 1000;

export function JoinLine({ made, onClose }: { readonly made: MadeLine; readonly onClose: () => void }) {
  const { name, line, expires_at: end } = made;
  const isOver = useNow(SECOND) >= new Date(end).getTime();
  const joined = useJoined(name);
  return (
    <>
      {joined === undefined && !isOver ? (
        <>
          <p>
            <strong>{texts.title(name)}</strong>
          </p>
          <Copyable text={`uam agent join '${line}'`} label={texts.label(name)} />
          <p>
            {texts.until(clockTime(end))} {texts.secret}
          </p>
          <p>{texts.needs}</p>
        </>
      ) : null}
      <p role="status">
        {joined !== undefined ? (
          <>
            <strong>{texts.joined(name)}</strong> <a href={hostPage(joined)}>{texts.open(name)}</a>
          </>
        ) : isOver ? (
          texts.over
        ) : (
          texts.waiting(name)
        )}
      </p>
      <p class="actions">
        <Button onClick={onClose}>{texts.close}</Button>
      </p>
    </>
  );
}

/** The host's id once there is one of that name: it is new, as no line is made for a name that is taken. */
function useJoined(name: string): number | undefined {
  const told = useRef(false);
  const { data } = useApi("GET /hosts", { query: { q: name, page_size: "100" } }, told.current ? undefined : ASKED);
  const id = data?.items.find((host) => host.name === name)?.id;
  useEffect(() => {
    if (id === undefined || told.current) return;
    told.current = true;
    announce(texts.joined(name));
    void forgetAnswers();
  }, [id]);
  return id;
}
