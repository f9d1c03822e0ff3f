/** A profile that is chosen by its name: of a user, or of a group of hosts. */

import { useState } from "preact/hooks";
import { PAGES } from "../../../shared/product/pages.ts";
import { profileSentences } from "../../../shared/text/profile-sentence.ts";
import { api, type BodyOf } from "../../api.ts";
import { profileTexts } from "../../texts/profiles/profiles.ts";
import { withHosts } from "../../ui/confirmed.ts";
import { Select } from "../../ui/field.tsx";
import { Sentences } from "../../ui/sentences.tsx";
import type { DialogProps } from "../../ui/use-dialog.ts";
import { useApi } from "../../use-api.tsx";
import { PreviewedDialog } from "../admin/previewed-dialog.tsx";
import type { UserRecord } from "../admin/user/record.ts";

const { choice: texts } = profileTexts;

/** What the profile means; nothing while that is not known, and for none. */
function Meaning({ name }: { readonly name: string | null }) {
  const found = useApi("GET /profiles").data?.items.find((one) => one.name === name);
  return found === undefined ? null : <Sentences items={profileSentences(found)} />;
}

/** Among facts: the profile, which leads to all of them, and what it means; nothing where there is none. */
export function ProfileFact({ name }: { readonly name: string | null }) {
  if (name === null) return null;
  return (
    <>
      <dt>{texts.label}</dt>
      <dd>
        <a href={PAGES.profiles}>{name}</a>
        <Meaning name={name} />
      </dd>
    </>
  );
}

/** The `field`, nothing as long as there is no profile; and the `changes`, which are none while it is the one of before. */
export function useProfile(stored: string | null = null) {
  // As it was when the form was opened: what somebody else changed meanwhile, and is not changed here, stays.
  const [before] = useState(stored ?? "");
  const [name, setName] = useState(before);
  const known = useApi("GET /profiles").data?.items ?? [];
  const options = [["", texts.none] as const, ...known.map((one) => [one.name, one.name] as const)];
  return {
    changes: name === before ? {} : { profile: name || null },
    field:
      known.length === 0 ? null : (
        <>
          <Select label={texts.label} name="profile" value={name} onValue={setName} options={options} />
          <Meaning name={name} />
        </>
      ),
  };
}

export function ProfileDialog({ user, onClose, onDone }: DialogProps & { readonly user: UserRecord }) {
  const { id, username } = user;
  const { changes, field } = useProfile(user.profile);
  const ask = (body: BodyOf<"PATCH /users/:id">, query: { readonly preview?: "true" }) =>
    api("PATCH /users/:id", { params: { id }, query, body });
  return (
    <PreviewedDialog
      title={texts.title(username)}
      texts={texts}
      wanted={"profile" in changes ? changes : undefined}
      preview={(body) => ask(body, { preview: "true" })}
      change={async (body) => withHosts(texts.done(username, body.profile ?? ""), await ask(body, {}))}
      {...{ onClose, onDone }}
    >
      {field}
    </PreviewedDialog>
  );
}
