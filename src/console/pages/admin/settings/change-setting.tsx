/** Changes a setting in two steps: the value, then what it would do. */

import { useState } from "preact/hooks";
import { type AnswerOf, api } from "../../../api.ts";
import { forgetAnswers } from "../../../signed-in.tsx";
import { settingsTexts } from "../../../texts/admin-settings.ts";
import { common } from "../../../texts/common.ts";
import { useAction } from "../../../ui/action.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Input } from "../../../ui/field.tsx";
import { Form } from "../../../ui/form.tsx";
import { Failure } from "../../../ui/notice.tsx";
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
  /** What was asked about; another value asks again. */
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
  const isBusy = looking.busy || saving.busy;
  return (
    <Dialog title={texts.title(title)} onClose={() => (isBusy ? undefined : onClose())}>
      <Form onSubmit={() => void (preview === undefined ? looking.run() : saving.run())}>
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
        <Failure failure={looking.failure ?? saving.failure} />
        <p class="actions">
          <Button type="submit" kind="primary" busy={looking.busy ? texts.seeing : saving.busy && texts.saving}>
            {preview === undefined ? texts.see : texts.save}
          </Button>
          <Button onClick={() => (isBusy ? undefined : onClose())}>{common.cancel}</Button>
        </p>
      </Form>
    </Dialog>
  );
}
