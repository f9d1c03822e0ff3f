/** Closes a review; while somebody is not answered for, it says what becomes of them. */

import { useState } from "preact/hooks";
import { UNANSWERED_WAYS } from "../../../shared/product/statuses.ts";
import { api, type BodyOf } from "../../api.ts";
import { reviewTexts } from "../../texts/admin/reviews.ts";
import { Select } from "../../ui/field.tsx";
import type { DialogProps } from "../../ui/use-dialog.ts";
import { PreviewedDialog } from "../admin/previewed-dialog.tsx";
import type { Review } from "./record.ts";

const { close: texts, unanswered } = reviewTexts;

export type Way = (typeof UNANSWERED_WAYS)[number];

/** What becomes of those who are not answered for. */
export function UnansweredWay({ way, onWay }: { readonly way: Way; readonly onWay: (way: Way) => void }) {
  return (
    <Select
      label={unanswered.label}
      value={way}
      onValue={(value) => onWay(value as Way)}
      options={UNANSWERED_WAYS.map((one) => [one, unanswered.ways[one]])}
    />
  );
}

export function CloseReview({ review, ...props }: DialogProps & { readonly review: Review }) {
  const { id, unanswered: open } = review;
  const [way, setWay] = useState<Way>("report");
  return (
    <PreviewedDialog
      title={texts.title}
      texts={texts}
      wanted={open > 0 ? { unanswered: way } : {}}
      preview={async () => ({
        preview: true as const,
        host: [],
        effects: [...(open > 0 ? [texts[way](open)] : []), texts.stays],
      })}
      change={async (body: BodyOf<"POST /reviews/:id/close">) =>
        texts.done[(await api("POST /reviews/:id/close", { params: { id }, body })).status]
      }
      isDanger={way === "disable"}
      {...props}
    >
      {open > 0 ? <UnansweredWay way={way} onWay={setWay} /> : null}
    </PreviewedDialog>
  );
}
