/** What a profile allows, as it is typed. */

import { useState } from "preact/hooks";
import { profileSentences } from "../../../shared/text/profile-sentence.ts";
import type { AnswerOf, BodyOf } from "../../api.ts";
import { profileTexts } from "../../texts/profiles/profiles.ts";
import { Area, Input, Select } from "../../ui/field.tsx";

export type Profile = AnswerOf<"GET /profiles/:id">;
type Field = keyof typeof profileTexts.fields;
type Changes = BodyOf<"PATCH /profiles/:id">;

const LIMITS = ["second_factor", "attestation", "idle", "max_sessions", "banner"] as const satisfies readonly Field[];

/** The fields of each kind, in order. */
const FIELDS: Readonly<Record<Profile["kind"], readonly Field[]>> = {
  sftp: ["directory", "read_only", "umask", ...LIMITS],
  forward: ["targets", "second_factor", "attestation", "idle", "banner"],
  command: ["command", ...LIMITS],
  shell: ["forwarding", "groups", "sudo", ...LIMITS],
};

const NOTHING: Profile = {
  ...{ id: 0, name: "", kind: "sftp", directory: null, read_only: false, umask: null, targets: [], forwarding: true },
  ...{ command: null, idle: null, max_sessions: null, second_factor: "none", attestation: "none", users: 0 },
  ...{ groups: [], sudo: [], banner: null },
};

/** The value as its field has it. */
function textOf(value: Profile[Field]): string {
  if (Array.isArray(value)) return value.join("\n");
  return typeof value === "boolean" ? (value ? "yes" : "no") : String(value ?? "");
}

/** The typed text as a value; the service says what is wrong with one that is none. */
function givenIn(field: Field, text: string): Changes[Field] {
  const typed = text.trim();
  switch (field) {
    case "read_only":
      return typed === "yes";
    case "forwarding":
      return typed === "yes" || typed === "no" ? typed === "yes" : entriesIn(text);
    case "targets":
    case "groups":
    case "sudo":
      return entriesIn(text);
    case "max_sessions":
      // No number at all must not lift the limit.
      return typed === "" ? null : Number(typed) || 0;
    case "directory":
    case "command":
    case "second_factor":
    case "attestation":
      return typed as "none";
    default:
      return typed || null;
  }
}

/** One a line, or with commas or spaces between them. */
function entriesIn(text: string): string[] {
  return text.split(/[\s,]+/).filter(Boolean);
}

/** The `fields` of a profile of that kind, the `changes` that were typed, and what it then allows, in `sentences`. */
export function useAllowance(kind: Profile["kind"], profile = NOTHING) {
  // As it was when the form was opened: what somebody else changed meanwhile, and is not changed here, stays.
  const [before] = useState(profile);
  const [typed, setTyped] = useState<Partial<Record<Field, string>>>({});
  const given = FIELDS[kind].flatMap((field) => {
    const text = typed[field] ?? textOf(before[field]);
    return text === textOf(before[field]) ? [] : [[field, givenIn(field, text)] as const];
  });
  const changes: Changes = Object.fromEntries(given);
  const missing = { directory: "…", command: "…", targets: ["…"] };
  const stored = Object.entries(before).filter(([, value]) => value !== null && String(value) !== "");
  return {
    changes,
    sentences: profileSentences({ ...before, ...missing, ...Object.fromEntries(stored), ...changes, kind }),
    fields: FIELDS[kind].map((field) => {
      const [label = "", hint = ""] = profileTexts.fields[field];
      const props = {
        ...{ label, name: field, value: typed[field] ?? textOf(before[field]) },
        ...(hint === "" ? {} : { hint }),
        onValue: (text: string) => setTyped({ ...typed, [field]: text }),
      };
      if (field === "read_only" || field === "second_factor" || field === "attestation") {
        return <Select key={field} {...props} options={Object.entries(profileTexts.options[field])} />;
      }
      if (Array.isArray(NOTHING[field]) || field === "forwarding") {
        return <Area key={field} {...props} rows={2} spellcheck={false} autoCapitalize="none" />;
      }
      const required = field === "directory" || field === "command";
      return <Input key={field} {...props} {...{ required }} autocomplete="off" autoCapitalize="none" />;
    }),
  };
}
