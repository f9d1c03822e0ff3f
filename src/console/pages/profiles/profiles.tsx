/** Profiles, each as what it means; and for owners, making, changing and deleting them. */

import { useState } from "preact/hooks";
import { profileSentences } from "../../../shared/text/profile-sentence.ts";
import { api } from "../../api.ts";
import { mayChange } from "../../roles.ts";
import { forgetAnswers, signedIn } from "../../signed-in.tsx";
import { profileTexts as texts } from "../../texts/profiles/profiles.ts";
import { useAction } from "../../ui/action.ts";
import { Button } from "../../ui/button.tsx";
import { withHosts } from "../../ui/confirmed.ts";
import { Input, Select } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { Page, Section } from "../../ui/page.tsx";
import { Sentences } from "../../ui/sentences.tsx";
import { type DialogProps, useDialog } from "../../ui/use-dialog.ts";
import { Loaded, useApi } from "../../use-api.tsx";
import { Done, useDone } from "../admin/done.tsx";
import { Will } from "../admin/effects.tsx";
import { forRole, ReadOnly, useRole } from "../admin/for-role.tsx";
import { PreviewedDialog } from "../admin/previewed-dialog.tsx";
import { type Profile, useAllowance } from "./fields.tsx";

export const Profiles = signedIn("admin", forRole("hosts", ProfilesPage));

type Open = { readonly what: "change" | "remove"; readonly profile: Profile } | "make";

function ProfilesPage() {
  const profiles = useApi("GET /profiles");
  const isOwner = mayChange(useRole(), "hosts");
  const done = useDone();
  const { open, start, props } = useDialog<Open>(done.tell);
  return (
    <Page
      title={texts.title}
      actions={
        isOwner ? (
          <Button kind="primary" onClick={() => start("make")}>
            {texts.make.open}
          </Button>
        ) : null
      }
    >
      <p class="lead">{texts.lead}</p>
      <ReadOnly area="hosts" />
      <Done what={done.what} />
      <Loaded query={profiles}>
        {({ items }) => (
          <div class="stack">
            {items.length === 0 ? <p class="empty">{texts.empty}</p> : null}
            {items.map((profile) => (
              <Section key={profile.id} title={profile.name}>
                <Sentences items={profileSentences(profile)} />
                <p class="hint">{texts.users(profile.users)}</p>
                {isOwner ? (
                  <p class="actions">
                    {(["change", "remove"] as const).map((what) => (
                      <Button
                        key={what}
                        kind={what === "remove" ? "danger" : "plain"}
                        aria-label={texts[what].openOf(profile.name)}
                        onClick={() => start({ what, profile })}
                      >
                        {texts[what].open}
                      </Button>
                    ))}
                  </p>
                ) : null}
              </Section>
            ))}
          </div>
        )}
      </Loaded>
      {open === undefined ? null : open === "make" ? (
        <MakeProfile {...props} />
      ) : open.what === "change" ? (
        <ChangeProfile profile={open.profile} {...props} />
      ) : (
        <DeleteProfile profile={open.profile} {...props} />
      )}
    </Page>
  );
}

const KINDS = Object.entries(texts.make.kinds);

function MakeProfile({ onClose, onDone }: DialogProps) {
  const { make } = texts;
  const [name, setName] = useState("");
  const [kind, setKind] = useState<Profile["kind"]>("sftp");
  const { changes, fields, sentences } = useAllowance(kind);
  const work = useAction(async () => {
    const made = await api("POST /profiles", { body: { name: name.trim(), kind, ...changes } });
    await forgetAnswers();
    onDone(make.done(made.name));
  });
  return (
    <FormDialog title={make.title} texts={make} {...{ work, onClose }}>
      <Input
        label={make.name}
        hint={make.nameHint}
        name="name"
        autocomplete="off"
        autoCapitalize="none"
        required
        value={name}
        onValue={setName}
      />
      <Select
        label={make.kind}
        name="kind"
        options={KINDS}
        value={kind}
        onValue={(value) => setKind(value as Profile["kind"])}
      />
      {fields}
      <Will sentences={[...sentences, make.nobody]} />
    </FormDialog>
  );
}

interface ProfileDialogProps extends DialogProps {
  readonly profile: Profile;
}

type Preview = { readonly preview?: "true" };

function ChangeProfile({ profile: shown, onClose, onDone }: ProfileDialogProps) {
  const { id, name } = shown;
  const { changes, fields } = useAllowance(shown.kind, shown);
  const ask = (body: typeof changes, query: Preview) => api("PATCH /profiles/:id", { params: { id }, query, body });
  return (
    <PreviewedDialog
      title={texts.change.title(name)}
      texts={texts.change}
      wanted={Object.keys(changes).length === 0 ? undefined : changes}
      preview={(body) => ask(body, { preview: "true" })}
      change={async (body) => withHosts(texts.change.done(name), await ask(body, {}))}
      {...{ onClose, onDone }}
    >
      {fields}
    </PreviewedDialog>
  );
}

function DeleteProfile({ profile: { id, name }, onClose, onDone }: ProfileDialogProps) {
  const ask = (query: Preview) => api("DELETE /profiles/:id", { params: { id }, query });
  return (
    <PreviewedDialog
      title={texts.remove.title(name)}
      texts={texts.remove}
      wanted={{ id }}
      preview={() => ask({ preview: "true" })}
      change={async () => {
        await ask({});
        return texts.remove.done(name);
      }}
      isDanger
      {...{ onClose, onDone }}
    />
  );
}
