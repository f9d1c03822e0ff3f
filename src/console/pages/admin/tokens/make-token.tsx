/** Makes a token for a machine. */

import { useState } from "preact/hooks";
import { includesRole } from "../../../../shared/product/role-order.ts";
import { ADMIN_ROLES, type AdminRole } from "../../../../shared/product/statuses.ts";
import { MAX_TOKEN_DAYS } from "../../../../shared/product/token-limits.ts";
import { type AnswerOf, api } from "../../../api.ts";
import { forgetAnswers } from "../../../signed-in.tsx";
import { roleTexts } from "../../../texts/admin/roles.ts";
import { tokensTexts } from "../../../texts/admin/tokens.ts";
import { Area, Input, Select } from "../../../ui/field.tsx";
import { type Confirmed, ConfirmedDialog } from "../account/confirm.tsx";
import { useRole } from "../for-role.tsx";
import { isTokenName, networksIn, tokenDays } from "./wanted.ts";

const { make: texts } = tokensTexts;

export type NewToken = AnswerOf<"POST /tokens">;

interface MakeProps {
  readonly onClose: () => void;
  /** Given the token, which the service shows only this once. */
  readonly onMade: (token: NewToken) => void;
}

export function MakeToken({ onClose, onMade }: MakeProps) {
  const own = useRole();
  const roles = ADMIN_ROLES.filter((role) => includesRole(own, role));
  const [name, setName] = useState("");
  // The least that there is; more is given on purpose.
  const [role, setRole] = useState<AdminRole>(roles.at(-1) ?? own);
  const [days, setDays] = useState("90");
  const [networks, setNetworks] = useState("");
  const [wrong, setWrong] = useState<{ readonly name?: string; readonly days?: string }>({});
  const make = async (confirmed: Confirmed) => {
    const wanted = tokenDays(days);
    const faults = {
      ...(isTokenName(name) ? {} : { name: texts.nameError }),
      ...(wanted === undefined ? { days: texts.daysError(MAX_TOKEN_DAYS) } : {}),
    };
    setWrong(faults);
    if (wanted === undefined || Object.keys(faults).length > 0) return;
    const body = { name: name.trim(), role, days: wanted, networks: networksIn(networks) };
    const made = await confirmed((sure) => api("POST /tokens", { body: { ...body, ...sure } }));
    if (made === undefined) return;
    // Before anything else that can fail: it is not shown again.
    onMade(made);
    onClose();
    await forgetAnswers();
  };
  return (
    <ConfirmedDialog title={texts.title} act={make} {...{ onClose, texts }}>
      <Input
        label={texts.name}
        hint={texts.nameHint}
        error={wrong.name}
        name="name"
        autocomplete="off"
        required
        value={name}
        onValue={setName}
      />
      <Select
        label={texts.role}
        hint={texts.roleHint(role)}
        name="role"
        value={role}
        onValue={(value) => setRole(value as AdminRole)}
        options={roles.map((value) => [value, roleTexts.names[value]] as const)}
      />
      <Input
        label={texts.days}
        hint={texts.daysHint(MAX_TOKEN_DAYS)}
        error={wrong.days}
        name="days"
        inputMode="numeric"
        autocomplete="off"
        required
        value={days}
        onValue={setDays}
      />
      <Area
        label={texts.networks}
        hint={texts.networksHint}
        name="networks"
        rows={2}
        value={networks}
        onValue={setNetworks}
      />
    </ConfirmedDialog>
  );
}
