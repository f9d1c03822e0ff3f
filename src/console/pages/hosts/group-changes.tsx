/** The changes that owners make to a group, each with a preview: hosts that join and leave, name and lease, and its end. */

import { useState } from "preact/hooks";
import { api, type BodyOf } from "../../api.ts";
import { groupTexts as texts } from "../../texts/hosts/host-groups.ts";
import { Area, Input } from "../../ui/field.tsx";
import type { DialogProps } from "../../ui/use-dialog.ts";
import { namesIn } from "../admin/names.ts";
import { PreviewedDialog } from "../admin/previewed-dialog.tsx";
import { HoursField, hoursIn, hoursText } from "../hours/hours-field.tsx";
import { useProfile } from "../profiles/choice.tsx";
import type { Group } from "./host-groups.tsx";
import { leaseIn, nameIn } from "./lease-text.ts";

interface GroupDialogProps extends DialogProps {
  readonly group: Group;
}

type Changes = BodyOf<"PATCH /host-groups/:id">;

function patch(id: number, done: (changes: Changes) => string) {
  const ask = (body: Changes, query: { readonly preview?: "true" }) =>
    api("PATCH /host-groups/:id", { params: { id }, query, body });
  return {
    preview: (body: Changes) => ask(body, { preview: "true" }),
    change: async (body: Changes) => {
      await ask(body, {});
      return done(body);
    },
  };
}

export function AddToGroup({ group: { id, name }, onClose, onDone }: GroupDialogProps) {
  const [typed, setTyped] = useState("");
  const add = namesIn(typed);
  return (
    <PreviewedDialog
      title={texts.add.title(name)}
      texts={texts.add}
      wanted={add.length === 0 ? undefined : { add: [...add] }}
      {...patch(id, () => texts.add.done(name, add.length))}
      {...{ onClose, onDone }}
    >
      <Area
        label={texts.add.hosts}
        hint={texts.add.hint}
        name="hosts"
        rows={3}
        spellcheck={false}
        autoCapitalize="none"
        required
        value={typed}
        onValue={setTyped}
      />
    </PreviewedDialog>
  );
}

export function TakeOut({ group: { id, name }, host, onClose, onDone }: GroupDialogProps & { readonly host: string }) {
  return (
    <PreviewedDialog
      title={texts.takeOut.title(host, name)}
      texts={texts.takeOut}
      wanted={{ remove: [host] }}
      {...patch(id, () => texts.takeOut.done(host, name))}
      isDanger
      {...{ onClose, onDone }}
    />
  );
}

export function ChangeGroup({ group, onClose, onDone }: GroupDialogProps) {
  // As it was when the dialog was opened: what somebody else changed meanwhile, and is not changed here, stays.
  const [before] = useState(group);
  const [name, setName] = useState(before.name);
  const [lease, setLease] = useState(before.lease ?? "");
  const [isFresh, setFresh] = useState(before.for_new_users);
  const [oldHours] = useState(hoursText(before.hours));
  const [typed, setTyped] = useState(oldHours);
  const hours = hoursIn(typed);
  const profile = useProfile(before.profile);
  const wanted = nameIn(name);
  const length = leaseIn(lease);
  const changes = {
    ...(wanted === before.name ? {} : { name: wanted ?? "" }),
    ...(length === before.lease ? {} : { lease: length ?? null }),
    ...(isFresh === before.for_new_users ? {} : { for_new_users: true }),
    ...(typed === oldHours ? {} : { hours: hours ?? null }),
    ...profile.changes,
  };
  const isPossible =
    wanted !== undefined && length !== undefined && hours !== undefined && Object.keys(changes).length > 0;
  return (
    <PreviewedDialog
      title={texts.change.title(before.name)}
      texts={texts.change}
      wanted={isPossible ? changes : undefined}
      {...patch(group.id, () => texts.change.done(wanted ?? before.name))}
      {...{ onClose, onDone }}
    >
      <Input
        label={texts.change.name}
        error={wanted === undefined ? texts.make.nameWrong : undefined}
        name="name"
        autocomplete="off"
        autoCapitalize="none"
        required
        value={name}
        onValue={setName}
      />
      <Input
        label={texts.lease.label}
        hint={texts.lease.hint}
        error={length === undefined ? texts.lease.wrong : undefined}
        name="lease"
        autocomplete="off"
        autoCapitalize="none"
        value={lease}
        onValue={setLease}
      />
      <HoursField hint={texts.hours.hint} text={typed} onText={setTyped} />
      {profile.field}
      {before.for_new_users ? null : (
        <label class="check">
          <input type="checkbox" checked={isFresh} onInput={(event) => setFresh(event.currentTarget.checked)} />
          <span>{texts.change.fresh}</span>
        </label>
      )}
    </PreviewedDialog>
  );
}

export function DeleteGroup({ group: { id, name }, onClose, onDone }: GroupDialogProps) {
  const ask = (query: { readonly preview?: "true" }) => api("DELETE /host-groups/:id", { params: { id }, query });
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
