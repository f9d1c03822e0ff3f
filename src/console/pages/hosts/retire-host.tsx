/** Retires a host: what will happen, then only by typing the name. */

import { useState } from "preact/hooks";
import { api } from "../../api.ts";
import { oneHostTexts } from "../../texts/hosts/host.ts";
import { moment } from "../../ui/clock.ts";
import { Input } from "../../ui/field.tsx";
import type { DialogProps } from "../../ui/use-dialog.ts";
import { PreviewedDialog } from "../admin/previewed-dialog.tsx";
import type { HostDetail } from "./state.ts";

const { retire: texts } = oneHostTexts;

interface RetireHostProps extends DialogProps {
  readonly host: HostDetail;
}

export function RetireHost({ host: { id, name }, onClose, onDone }: RetireHostProps) {
  const [isForced, setForced] = useState(false);
  const [typed, setTyped] = useState("");
  const [error, setError] = useState<string>();
  const ask = ({ force }: { readonly force: boolean }, preview: boolean) =>
    api("DELETE /hosts/:id", {
      params: { id },
      query: { ...(force ? { force: "true" } : {}), ...(preview ? { preview: "true" } : {}) },
    });
  async function retire(wanted: { readonly force: boolean }) {
    const answer = await ask(wanted, false);
    if ("preview" in answer) return "";
    const { status, accounts, effective_by: by } = answer;
    if (status === "retiring") return texts.begun(name, accounts);
    return texts.forgotten(name, by === null ? undefined : moment(by));
  }
  return (
    <PreviewedDialog
      title={texts.title(name)}
      texts={texts}
      wanted={{ force: isForced }}
      preview={(wanted) => ask(wanted, true)}
      change={retire}
      isConfirmed={() => {
        const isRight = typed.trim() === name;
        setError(isRight ? undefined : texts.wrong(name));
        return isRight;
      }}
      isDanger
      onClose={onClose}
      onDone={onDone}
    >
      <div class="field">
        <label class="check">
          <input
            type="checkbox"
            checked={isForced}
            aria-describedby="force-hint"
            onInput={(event) => setForced(event.currentTarget.checked)}
          />
          <span>{texts.force}</span>
        </label>
        <div class="hint" id="force-hint">
          {texts.forceHint}
        </div>
      </div>
      <Input
        label={texts.type(name)}
        error={error}
        name="confirmation"
        value={typed}
        onValue={(value) => {
          setTyped(value);
          setError(undefined);
        }}
        autocomplete="off"
        autoCapitalize="none"
        required
      />
    </PreviewedDialog>
  );
}
