/** Gives a user hosts and groups, and takes the others away: what that does is said first. */

import { useState } from "preact/hooks";
import { type AnswerOf, api } from "../../../api.ts";
import { userHostTexts } from "../../../texts/admin/user-hosts.ts";
import { hostsSentence } from "../../../ui/confirmed.ts";
import { Area } from "../../../ui/field.tsx";
import { Failure } from "../../../ui/notice.tsx";
import { useApi } from "../../../use-api.tsx";
import { namesIn } from "../names.ts";
import { PreviewedDialog } from "../previewed-dialog.tsx";
import type { UserRecord } from "./record.ts";

const { dialog: texts } = userHostTexts;

interface Wanted {
  readonly hosts: string[];
  readonly groups: string[];
}

interface ChangeHostsProps extends Pick<AnswerOf<"GET /users/:id/hosts">, "hosts" | "groups"> {
  readonly user: UserRecord;
  readonly onClose: () => void;
  readonly onDone: (sentence: string) => void;
}

export function ChangeHosts({ user: { id, username }, onClose, onDone, ...given }: ChangeHostsProps) {
  const known = useApi("GET /host-groups");
  // As they were when the dialog was opened.
  const [before] = useState<Wanted>({ hosts: [...given.hosts], groups: [...given.groups].sort() });
  const [typed, setTyped] = useState(before.hosts.join("\n"));
  const [groups, setGroups] = useState<readonly string[]>(before.groups);
  const wanted: Wanted = { hosts: [...namesIn(typed)], groups: [...groups].sort() };
  const isEmpty = wanted.hosts.length + wanted.groups.length === 0;
  const isSame = JSON.stringify(wanted) === JSON.stringify(before);
  const names = [...new Set([...before.groups, ...(known.data?.items ?? []).map(({ name }) => name)])].sort();
  const ask = (body: Wanted, query: { readonly preview?: "true" }) =>
    api("PUT /users/:id/hosts", { params: { id }, query, body });
  async function change(body: Wanted) {
    const answer = await ask(body, {});
    if ("preview" in answer) return "";
    const done = texts.done(username, answer.items.filter(({ state }) => state !== "applied").length);
    return answer.taken === undefined ? done : `${done} ${texts.taken(hostsSentence({ hosts: answer.taken }))}`;
  }
  return (
    <PreviewedDialog
      title={texts.title(username)}
      texts={texts}
      wanted={isEmpty || isSame ? undefined : wanted}
      preview={(body) => ask(body, { preview: "true" })}
      {...{ change, onClose, onDone }}
    >
      <Failure failure={known.error ?? undefined} onRetry={() => void known.refetch()} />
      <fieldset class="field">
        <legend>{texts.groups}</legend>
        {names.map((name) => (
          <label key={name} class="check">
            <input
              type="checkbox"
              checked={groups.includes(name)}
              onInput={({ currentTarget: { checked } }) =>
                setGroups(checked ? [...groups, name] : groups.filter((other) => other !== name))
              }
            />
            <span>{name}</span>
          </label>
        ))}
      </fieldset>
      <Area
        label={texts.hosts}
        hint={texts.hostsHint}
        name="hosts"
        rows={3}
        spellcheck={false}
        autoCapitalize="none"
        value={typed}
        onValue={setTyped}
      />
      {isEmpty ? <p class="error">{texts.nothing}</p> : null}
    </PreviewedDialog>
  );
}
