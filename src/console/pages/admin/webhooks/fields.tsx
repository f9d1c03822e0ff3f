/** Where a webhook goes, and what it is told of. */

import type { AuditAction } from "../../../texts/admin/actions.ts";
import { actionTexts } from "../../../texts/admin/actions.ts";
import { webhooksTexts } from "../../../texts/admin/webhooks.ts";
import { Input, Select } from "../../../ui/field.tsx";
import { useUniqueId } from "../../../unique-id.ts";
import type { Wanted } from "./wanted.ts";

const { form: texts } = webhooksTexts;

const ACTIONS = Object.keys(actionTexts.actions) as AuditAction[];

interface FieldsProps {
  readonly wanted: Wanted;
  readonly onWanted: (wanted: Wanted) => void;
  readonly faults: { readonly url: boolean; readonly chosen: boolean };
}

export function WebhookFields({ wanted, onWanted, faults }: FieldsProps) {
  return (
    <>
      <Input
        label={texts.url}
        hint={texts.urlHint}
        error={faults.url ? texts.urlError : undefined}
        name="url"
        type="url"
        autocomplete="off"
        required
        maxLength={2000}
        value={wanted.url}
        onValue={(url) => onWanted({ ...wanted, url })}
      />
      <Select
        label={texts.told}
        hint={texts.toldHint}
        name="told"
        value={wanted.isAll ? "all" : "some"}
        onValue={(value) => onWanted({ ...wanted, isAll: value === "all" })}
        options={Object.entries(texts.options)}
      />
      {wanted.isAll ? null : (
        <Chosen
          chosen={wanted.chosen}
          onChosen={(chosen) => onWanted({ ...wanted, chosen })}
          error={faults.chosen ? texts.chooseError : undefined}
        />
      )}
    </>
  );
}

interface ChosenProps {
  readonly chosen: readonly AuditAction[];
  readonly onChosen: (chosen: readonly AuditAction[]) => void;
  readonly error: string | undefined;
}

function Chosen({ chosen, onChosen, error }: ChosenProps) {
  const id = useUniqueId();
  return (
    <fieldset class="choices" aria-describedby={error === undefined ? undefined : id}>
      <legend>{texts.choose}</legend>
      {error === undefined ? null : (
        <p class="error" id={id} role="alert">
          {error}
        </p>
      )}
      {ACTIONS.map((action) => (
        <label key={action} class="check">
          <input
            type="checkbox"
            checked={chosen.includes(action)}
            onInput={({ currentTarget: { checked } }) =>
              onChosen(checked ? [...chosen, action] : chosen.filter((other) => other !== action))
            }
          />
          <span>{actionTexts.actions[action].label}</span>
        </label>
      ))}
    </fieldset>
  );
}
