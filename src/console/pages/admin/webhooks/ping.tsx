/** Asks a webhook whether it answers. */

import { api } from "../../../api.ts";
import { forgetAnswers } from "../../../signed-in.tsx";
import { webhooksTexts } from "../../../texts/admin/webhooks.ts";
import { useAction } from "../../../ui/action.ts";
import { Button } from "../../../ui/button.tsx";
import { Failure } from "../../../ui/notice.tsx";
import type { Webhook } from "./wanted.ts";

const { ping: texts } = webhooksTexts;

interface PingProps {
  readonly webhook: Webhook;
  readonly onTold: (sentence: string, kind: "good" | "warn") => void;
}

export function Ping({ webhook: { id, url }, onTold }: PingProps) {
  const work = useAction(async () => {
    const { status, error } = await api("POST /webhooks/:id/ping", { params: { id } });
    await forgetAnswers();
    if (status === "delivered") onTold(texts.good, "good");
    else onTold(texts.bad(error), "warn");
  });
  return (
    <>
      <Button aria-label={texts.openOf(url)} busy={work.busy && texts.busy} onClick={() => void work.run()}>
        {texts.open}
      </Button>
      <Failure failure={work.failure} />
    </>
  );
}
