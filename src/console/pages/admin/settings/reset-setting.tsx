/** Drops what was set: the default of the host's configuration is in force again. What that would do is shown first. */

import { useEffect, useState } from "preact/hooks";
import { type AnswerOf, api } from "../../../api.ts";
import { forgetAnswers } from "../../../signed-in.tsx";
import { settingsTexts } from "../../../texts/admin/settings.ts";
import { useAction } from "../../../ui/action.ts";
import { FormDialog } from "../../../ui/form-dialog.tsx";
import { Loading } from "../../../ui/loading.tsx";
import { Failure } from "../../../ui/notice.tsx";
import { Effects, previewSetting, type SettingPreview } from "./preview.tsx";

const { dialog: texts } = settingsTexts;

type Setting = AnswerOf<"GET /settings">["items"][number];

interface ResetProps {
  readonly setting: Setting;
  readonly onClose: () => void;
  readonly onDone: (setting: Setting) => void;
}

export function ResetSetting({ setting: { key }, onClose, onDone }: ResetProps) {
  const { title } = settingsTexts.settings[key];
  const [preview, setPreview] = useState<SettingPreview>();
  const looking = useAction(async () => setPreview(await previewSetting(key)));
  useEffect(() => void looking.run(), []);
  const work = useAction(async () => {
    const answer = await api("DELETE /settings/:key", { params: { key } });
    await forgetAnswers();
    if ("overridden" in answer) onDone(answer);
    onClose();
  });
  return (
    <FormDialog
      title={texts.resetTitle(title)}
      {...{ work, onClose }}
      texts={{ submit: texts.saveReset, busy: texts.saving }}
      isPossible={preview !== undefined}
    >
      <p>{texts.resetText}</p>
      {looking.busy ? <Loading /> : null}
      {preview === undefined ? null : <Effects preview={preview} />}
      <Failure failure={looking.failure} onRetry={() => void looking.run()} />
    </FormDialog>
  );
}
