/** The effects of a change of a setting, as the service answers before anything is changed. */

import { type AnswerOf, ApiFailure, api } from "../../../api.ts";
import { settingsTexts } from "../../../texts/admin/settings.ts";
import { moment, now } from "../../../ui/clock.ts";
import { Notice } from "../../../ui/notice.tsx";
import { Sentences } from "../../../ui/sentences.tsx";
import { durationWords } from "./duration.ts";

const { dialog: texts } = settingsTexts;

type Setting = AnswerOf<"GET /settings">["items"][number];
export type SettingPreview = Extract<AnswerOf<"PUT /settings">, { readonly preview: true }>;

/** A change due within this time, in milliseconds, takes effect at once: the clocks may differ. */
const AT_ONCE = 600_000;

/** The effects of setting the value, or without one the default. Throws ApiFailure as the change itself would. */
export async function previewSetting(key: Setting["key"], value?: string): Promise<SettingPreview> {
  const query = { preview: "true" } as const;
  const answer =
    value === undefined
      ? await api("DELETE /settings/:key", { params: { key }, query })
      : await api("PUT /settings", { query, body: { key, value } });
  if ("preview" in answer) return answer;
  throw new ApiFailure("The service did not answer with a preview", {
    ...{ status: 0, reason: "internal", retryAfter: undefined, requestId: "" },
  });
}

/** The preview; what is deleted for good stands out. */
export function Effects({ preview: { value, at, deletes } }: { readonly preview: SettingPreview }) {
  const gone = [
    ...(deletes.users > 0 ? [texts.users(deletes.users)] : []),
    ...(deletes.audit_records > 0 ? [texts.records(deletes.audit_records)] : []),
  ];
  return (
    <>
      <p>
        <strong>{texts.becomes(durationWords(value, settingsTexts))}</strong>{" "}
        {new Date(at).getTime() > now() + AT_ONCE ? texts.later(moment(at)) : texts.atOnce}
      </p>
      {gone.length === 0 ? (
        <p>{texts.nothing}</p>
      ) : (
        <Notice kind="warn" title={texts.deletes}>
          <Sentences items={gone} />
          <p>{texts.deletesAt(moment(at))}</p>
        </Notice>
      )}
    </>
  );
}
