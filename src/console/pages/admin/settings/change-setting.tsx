/** Changes a setting in two steps: the value, then what it would do. */

import { useState } from "preact/hooks";
import { type AnswerOf, api } from "../../../api.ts";
import { forgetAnswers } from "../../../signed-in.tsx";
import { settingsTexts } from "../../../texts/admin/settings.ts";
import { useAction } from "../../../ui/action.ts";
import { Input } from "../../../ui/field.tsx";
import { FormDialog } from "../../../ui/form-dialog.tsx";
import { isDuration } from "./duration.ts";
import { Effects, previewSetting, type SettingPreview } from "./preview.tsx";

const { dialog: texts } = settingsTexts;

type Setting = AnswerOf<"GET /settings">["items"][number];

interface ChangeProps {
  readonly setting: Setting;
  readonly onClose: () => void;
  readonly onDone: (setting: Setting) => void;
}

export function ChangeSetting({ setting: { key, value: before, pending }, onClose, onDone }: ChangeProps) {
  const { title } = settingsTexts.settings[key];
  const [typed, setTyped] = useState(pending?.value ?? before);
  const [error, setError] = useState<string>();
  /** The value that was asked about; another value asks again. */
  const [preview, setPreview] = useState<SettingPreview>();
  const looking = useAction(async () => {
    const value = typed.trim();
    const fault = value === "" ? texts.empty : isDuration(value) ? undefined : texts.wrong;
    setError(fault);
    if (fault === undefined) setPreview(await previewSetting(key, value));
  });
  const saving = useAction(async () => {
    if (preview === undefined) return;
    const answer = await api("PUT /settings", { body: { key, value: preview.value } });
    await forgetAnswers();
    if ("overridden" in answer) onDone(answer);
    onClose();
  });
  const work = saving.busy || preview !== undefined ? saving : looking;
  return (
    <FormDialog
      title={texts.title(title)}
      {...{ work, onClose }}
      texts={work === saving ? { submit: texts.save, busy: texts.saving } : { submit: texts.see, busy: texts.seeing }}
    >
      <Input
        label={texts.label}
        hint={texts.hint}
        error={error}
        name="value"
        autocomplete="off"
        autocapitalize="none"
        required
        value={typed}
        onValue={(value) => {
          setTyped(value);
          setPreview(undefined);
        }}
      />
      {/* Filled when the answer comes, so that it is read out. */}
      <div role="status">
        {preview === undefined ? null : (
          <div class="form">
            <h3>{texts.effects}</h3>
            <Effects preview={preview} />
          </div>
        )}
      </div>
    </FormDialog>
  );
}
