/** Makes the line that joins a host. */

import { useState } from "preact/hooks";
import { type AnswerOf, api } from "../../api.ts";
import { hostTexts } from "../../texts/hosts/hosts.ts";
import { Input, Select } from "../../ui/field.tsx";
import { Failure } from "../../ui/notice.tsx";
import { useApi } from "../../use-api.tsx";
import { type Confirmed, ConfirmedDialog } from "../admin/account/confirm.tsx";
import { nameIn } from "./lease-text.ts";

const { add: texts } = hostTexts;

export interface MadeLine extends AnswerOf<"POST /hosts/tokens"> {
  /** The future name of the host. */
  readonly name: string;
}

interface AddProps {
  readonly onClose: () => void;
  /** Given the line, which the service shows only this once. */
  readonly onMade: (made: MadeLine) => void;
}

export function AddHost({ onClose, onMade }: AddProps) {
  const groups = useApi("GET /host-groups");
  const [name, setName] = useState("");
  // The least that there is; more is given on purpose.
  const [group, setGroup] = useState("");
  const [error, setError] = useState<string>();
  const make = async (confirmed: Confirmed) => {
    const wanted = nameIn(name);
    setError(wanted === undefined ? texts.nameWrong : undefined);
    if (wanted === undefined) return;
    const body = { name: wanted, ...(group === "" ? {} : { group }) };
    const made = await confirmed((sure) => api("POST /hosts/tokens", { body: { ...body, ...sure } }));
    if (made === undefined) return;
    onMade({ ...made, name: wanted });
    onClose();
  };
  const items = groups.data?.items ?? [];
  const users = items.find((item) => item.name === group)?.users ?? 0;
  return (
    <ConfirmedDialog title={texts.title} act={make} {...{ onClose, texts }}>
      <p>{texts.lead}</p>
      <Input
        label={texts.name}
        hint={texts.nameHint}
        error={error}
        name="name"
        autocomplete="off"
        autoCapitalize="none"
        required
        value={name}
        onValue={setName}
      />
      <Failure failure={groups.error ?? undefined} onRetry={() => void groups.refetch()} />
      <Select
        label={texts.group}
        hint={group === "" ? texts.noGroupHint : texts.groupHint(users)}
        name="group"
        value={group}
        onValue={setGroup}
        options={[["", texts.noGroup], ...items.map((item) => [item.name, item.name] as const)]}
      />
    </ConfirmedDialog>
  );
}
