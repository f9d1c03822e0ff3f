/** The settings: how long things last, in words; owners change them. */

import { useState } from "preact/hooks";
import { PAGES } from "../../../shared/product/pages.ts";
import type { AnswerOf } from "../../api.ts";
import { mayChange } from "../../roles.ts";
import { signedIn } from "../../signed-in.tsx";
import { settingsTexts as texts } from "../../texts/admin/settings.ts";
import { profileTexts } from "../../texts/profiles/profiles.ts";
import { Button } from "../../ui/button.tsx";
import { moment, relative, useNow } from "../../ui/clock.ts";
import { Notice } from "../../ui/notice.tsx";
import { Page, Section } from "../../ui/page.tsx";
import { Loaded, useApi } from "../../use-api.tsx";
import { Done, useDone } from "./done.tsx";
import { forRole, ReadOnly, useRole } from "./for-role.tsx";
import { ChangeSetting } from "./settings/change-setting.tsx";
import { durationWords } from "./settings/duration.ts";
import { ResetSetting } from "./settings/reset-setting.tsx";

export type Setting = AnswerOf<"GET /settings">["items"][number];

interface Open {
  readonly what: "change" | "reset";
  readonly setting: Setting;
}

export const Settings = signedIn(
  "admin",
  forRole("settings", () => {
    const isOwner = mayChange(useRole(), "settings");
    const answer = useApi("GET /settings");
    const [open, setOpen] = useState<Open>();
    const done = useDone();
    const start = (next: Open) => {
      done.clear();
      setOpen(next);
    };
    const close = () => setOpen(undefined);
    const saved = (setting: Setting) => done.tell(sentenceFor(setting));
    return (
      <Page
        title={texts.title}
        actions={
          <a class="button" href={PAGES.profiles}>
            {profileTexts.title}
          </a>
        }
      >
        <p class="lead">{texts.lead}</p>
        <ReadOnly area="settings" />
        <Done what={done.what} />
        <Loaded query={answer}>
          {({ items }) => (
            <div class="columns half">
              {items.map((setting) => (
                <Policy key={setting.key} setting={setting} onOpen={isOwner ? start : undefined} />
              ))}
            </div>
          )}
        </Loaded>
        {open?.what === "change" ? <ChangeSetting setting={open.setting} onClose={close} onDone={saved} /> : null}
        {open?.what === "reset" ? <ResetSetting setting={open.setting} onClose={close} onDone={saved} /> : null}
      </Page>
    );
  }),
);

function sentenceFor({ key, value, pending }: Setting): string {
  const { title } = texts.settings[key];
  if (pending === undefined) return texts.done(title, durationWords(value, texts));
  return texts.doneLater(title, durationWords(pending.value, texts), moment(pending.at));
}

interface PolicyProps {
  readonly setting: Setting;
  readonly onOpen: ((open: Open) => void) | undefined;
}

function Policy({ setting, onOpen }: PolicyProps) {
  const { key, value, overridden, pending } = setting;
  const { title, text, note } = texts.settings[key];
  const present = useNow();
  return (
    <Section title={title}>
      <p>{text}</p>
      <dl class="facts">
        <dt>{texts.value}</dt>
        <dd>
          <strong>{durationWords(value, texts)}</strong>
        </dd>
        <dt>{texts.source}</dt>
        <dd>{overridden ? texts.byOverride : texts.byDefault}</dd>
        <dt>{texts.key}</dt>
        <dd>
          <code>{key}</code>
        </dd>
      </dl>
      {pending === undefined ? null : (
        <Notice
          kind="warn"
          title={texts.pending(durationWords(pending.value, texts), relative(new Date(pending.at).getTime(), present))}
        >
          <p>{texts.pendingText(moment(pending.at))}</p>
        </Notice>
      )}
      <p class="hint">{note}</p>
      {onOpen === undefined ? null : (
        <p class="actions">
          <Button aria-label={texts.editOf(title)} onClick={() => onOpen({ what: "change", setting })}>
            {texts.edit}
          </Button>
          {overridden ? (
            <Button aria-label={texts.resetOf(title)} onClick={() => onOpen({ what: "reset", setting })}>
              {texts.reset}
            </Button>
          ) : null}
        </p>
      )}
    </Section>
  );
}
