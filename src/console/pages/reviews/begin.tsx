/** Begins a review: first it says about how many users it is, and who is asked. */

import { useState } from "preact/hooks";
import { MOST_REVIEW_DAYS } from "../../../shared/product/limits.ts";
import { isEmail } from "../../../shared/text/person.ts";
import { api, type BodyOf } from "../../api.ts";
import { reviewTexts } from "../../texts/admin/reviews.ts";
import { Input, Select } from "../../ui/field.tsx";
import type { DialogProps } from "../../ui/use-dialog.ts";
import { useApi } from "../../use-api.tsx";
import { daysOf } from "../admin/days.ts";
import { PreviewedDialog } from "../admin/previewed-dialog.tsx";
import { CompanyFilter } from "../companies/choice.tsx";
import { UnansweredWay, type Way } from "./close-review.tsx";

const { begin: texts } = reviewTexts;

type Wanted = BodyOf<"POST /reviews">;
type Kind = keyof typeof texts.scopes;

export function BeginReview({ onClose, onDone }: DialogProps) {
  const [kind, setKind] = useState<Kind>("all");
  const [which, setWhich] = useState("");
  const [days, setDays] = useState("14");
  const [way, setWay] = useState<Way>("disable");
  const due = daysOf(days) ?? 0;
  const isDue = due > 0 && due <= MOST_REVIEW_DAYS;
  const scope = scopeOf(kind, which.trim());
  return (
    <PreviewedDialog
      title={texts.open}
      texts={texts}
      wanted={scope !== undefined && isDue ? { scope, due_days: due, unanswered: way } : undefined}
      preview={preview}
      change={async (body: Wanted) => texts.done((await api("POST /reviews", { body })).total)}
      {...{ onClose, onDone }}
    >
      <Select
        label={texts.scope}
        value={kind}
        onValue={(value) => {
          setKind(value as Kind);
          setWhich("");
        }}
        options={Object.entries(texts.scopes)}
      />
      {kind === "company" ? <CompanyFilter id={which} onId={setWhich} /> : null}
      {kind === "host_group" ? <WhichGroup {...{ which, setWhich }} /> : null}
      {kind === "sponsor" ? (
        <Input label={texts.which} type="email" autocomplete="off" required value={which} onValue={setWhich} />
      ) : null}
      <Input
        label={texts.days}
        error={isDue ? undefined : texts.daysWrong(MOST_REVIEW_DAYS)}
        inputMode="numeric"
        autocomplete="off"
        required
        value={days}
        onValue={setDays}
      />
      <UnansweredWay way={way} onWay={setWay} />
    </PreviewedDialog>
  );
}

interface WhichProps {
  readonly which: string;
  readonly setWhich: (id: string) => void;
}

/** One of those that there are. */
function WhichGroup({ which, setWhich }: WhichProps) {
  const { data } = useApi("GET /host-groups");
  const options = (data?.items ?? []).map(({ id, name }) => [String(id), name] as const);
  return <Select label={texts.which} value={which} onValue={setWhich} options={[["", texts.choose], ...options]} />;
}

/** Undefined until it is known which one. */
function scopeOf(kind: Kind, which: string): Wanted["scope"] | undefined {
  if (kind === "all") return kind;
  if (kind === "sponsor") return isEmail(which) ? { sponsor: which } : undefined;
  if (which === "") return undefined;
  return kind === "company" ? { company: Number(which) } : { host_group: Number(which) };
}

async function preview({ scope }: Wanted) {
  const query = typeof scope === "string" ? {} : (scope as Record<string, string>);
  const { total, sponsors, sponsored } = await api("GET /reviews/preview", { query });
  return {
    preview: true as const,
    host: [],
    effects: [
      texts.about(total),
      ...(sponsored > 0 ? [texts.mailed(sponsors, sponsored)] : []),
      ...(sponsored < total ? [texts.rest(total - sponsored)] : []),
    ],
  };
}
