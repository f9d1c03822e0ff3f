/** Changes a host's name and lease; only what was changed is sent. */

import { useState } from "preact/hooks";
import { NO_LEASE } from "../../../shared/time/lease.ts";
import { api } from "../../api.ts";
import { oneHostTexts } from "../../texts/hosts/host.ts";
import { hostTexts } from "../../texts/hosts/hosts.ts";
import { useAction } from "../../ui/action.ts";
import { Input, Select } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { Notice } from "../../ui/notice.tsx";
import type { DialogProps } from "../../ui/use-dialog.ts";
import { isLease, nameIn } from "./lease-text.ts";
import type { HostDetail } from "./state.ts";

const { change: texts } = oneHostTexts;
const KINDS = ["inherit", "own", "none"] as const;
const ENDS = ["logins", "sessions"] as const;

interface ChangeHostProps extends DialogProps {
  readonly host: HostDetail;
}

function kindOf(lease: string | null): (typeof KINDS)[number] {
  return lease === null ? "inherit" : lease === NO_LEASE ? "none" : "own";
}

export function ChangeHost({ host, onClose, onDone }: ChangeHostProps) {
  // The one that was shown when it was opened: what somebody else changed meanwhile, and is not changed here, stays.
  const [before] = useState(host);
  const [name, setName] = useState(before.name);
  const [kind, setKind] = useState(kindOf(before.own_lease));
  const [length, setLength] = useState(kind === "own" ? (before.own_lease ?? "") : "");
  const [ends, setEnds] = useState(before.lease_ends);
  const [wrong, setWrong] = useState<{ readonly name?: string; readonly length?: string }>({});
  const work = useAction(async () => {
    const wanted = nameIn(name);
    const typed = length.trim().toLowerCase();
    const faults = {
      ...(wanted === undefined ? { name: hostTexts.add.nameWrong } : {}),
      ...(kind === "own" && (typed === NO_LEASE || !isLease(typed)) ? { length: texts.leaseWrong } : {}),
    };
    setWrong(faults);
    if (wanted === undefined || Object.keys(faults).length > 0) return;
    const lease = kind === "inherit" ? null : kind === "none" ? NO_LEASE : typed;
    const body = {
      ...(wanted === before.name ? {} : { name: wanted }),
      ...(lease === before.own_lease ? {} : { lease }),
      ...(ends === before.lease_ends ? {} : { lease_ends: ends }),
    };
    if (Object.keys(body).length === 0) return onClose();
    await api("PATCH /hosts/:id", { params: { id: host.id }, body });
    onDone(texts.done(wanted));
  });
  return (
    <FormDialog title={texts.title(before.name)} {...{ work, onClose, texts }}>
      <Input
        label={texts.name}
        error={wrong.name}
        name="name"
        autocomplete="off"
        autoCapitalize="none"
        required
        value={name}
        onValue={setName}
      />
      <Select
        label={texts.kind}
        name="lease-kind"
        value={kind}
        onValue={(value) => setKind(value as typeof kind)}
        options={KINDS.map((value) => [value, texts.kinds[value]] as const)}
      />
      {kind === "own" ? (
        <Input
          label={texts.lease}
          hint={texts.leaseHint}
          error={wrong.length}
          name="lease"
          autocomplete="off"
          autoCapitalize="none"
          required
          value={length}
          onValue={setLength}
        />
      ) : null}
      {kind === "none" ? (
        <Notice kind="bad">
          <p>{texts.noneWarning}</p>
        </Notice>
      ) : null}
      <Select
        label={texts.ends}
        name="lease-ends"
        value={ends}
        onValue={(value) => setEnds(value as typeof ends)}
        options={ENDS.map((value) => [value, texts.endsKinds[value]] as const)}
      />
    </FormDialog>
  );
}
