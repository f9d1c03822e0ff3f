/** Finds people, hosts, pages and actions by a part of their names: a combobox with a list (WAI-ARIA APG). */

import { useEffect, useRef, useState } from "preact/hooks";
import { hostPage, PAGES, userPage } from "../../shared/product/pages.ts";
import { api, searchOf } from "../api.ts";
import { maySee } from "../roles.ts";
import type { Principal } from "../session.tsx";
import { common } from "../texts/common.ts";
import { finderTexts as texts } from "../texts/finder.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { cut } from "../ui/isolated.ts";
import { sentenceOf } from "../ui/notice.tsx";
import { useUniqueId } from "../unique-id.ts";
import { type Entry, entriesFor, matching } from "./entries.ts";

/** Milliseconds without a keystroke after which the service is asked. */
const PAUSE = 200;
/** People and hosts shown. */
const MOST = 6;
/** Of so many people, those whose own name was typed are shown first. */
const LOOKED = 50;
/** As many characters as the service searches for. */
const MAX_SEARCH = 128;
/** Of a name that somebody typed, and of what stands beside it. */
const SHOWN = 60;

interface PaletteProps {
  readonly principal: Principal;
  readonly onClose: () => void;
  readonly onChoose: (entry: Entry) => void;
}

type Group = readonly [name: keyof typeof texts.groups, entries: readonly Entry[]];

export function Palette({ principal, onClose, onChoose }: PaletteProps) {
  const [typed, setTyped] = useState("");
  const [place, setPlace] = useState(0);
  const id = useUniqueId();
  const asked = useAsked(principal, typed.trim());
  const { pages, actions } = entriesFor(principal);
  const local: readonly Group[] = [
    ["pages", matching(pages, typed)],
    ["actions", matching(actions, typed)],
  ];
  // What the service has found comes after what is known here: nothing that was chosen moves when it arrives.
  const groups = [...local, ...asked.groups].filter(([, entries]) => entries.length > 0);
  const entries = groups.flatMap(([, list]) => list);
  const current = entries[Math.min(place, entries.length - 1)];
  const optionOf = (entry: Entry) => `${id}-${entries.indexOf(entry)}`;
  useEffect(() => {
    if (current !== undefined) document.getElementById(optionOf(current))?.scrollIntoView({ block: "nearest" });
  }, [place]);

  function onKeyDown(event: KeyboardEvent) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.isComposing) return;
    if (step !== undefined && entries.length > 0)
      setPlace((entries.indexOf(current ?? NONE) + step + entries.length) % entries.length);
    else if (event.key === "Enter" && current !== undefined) onChoose(current);
    else return;
    event.preventDefault();
  }

  const isList = entries.length > 0;
  return (
    <Dialog title={texts.title} onClose={onClose}>
      <div class="stack tight finder">
        <input
          type="text"
          role="combobox"
          aria-label={texts.label(principal.user_type === "admin")}
          aria-autocomplete="list"
          aria-expanded={isList}
          aria-controls={isList ? id : undefined}
          aria-activedescendant={current === undefined ? undefined : optionOf(current)}
          aria-describedby={`${id}-hint`}
          autocomplete="off"
          spellcheck={false}
          maxLength={MAX_SEARCH}
          value={typed}
          onInput={({ currentTarget: { value } }) => {
            setTyped(value);
            setPlace(0);
          }}
          onKeyDown={onKeyDown}
        />
        <p id={`${id}-hint`} class="hint">
          {texts.hint}
        </p>
        {isList ? (
          <div role="listbox" id={id} aria-label={texts.title}>
            {groups.flatMap(([name, list]) =>
              list.map((entry) => (
                <Option
                  key={`${entry.to} ${entry.text}`}
                  {...{ entry, id: optionOf(entry), isCurrent: entry === current }}
                  kind={texts.groups[name]}
                  onChoose={() => onChoose(entry)}
                />
              )),
            )}
          </div>
        ) : null}
        <p role="status" class={isList && asked.said === "" ? "hidden" : "quiet"}>
          {asked.said || (isList ? texts.found(entries.length) : texts.none)}
        </p>
        <p class="actions">
          <Button onClick={onClose}>{common.close}</Button>
        </p>
      </div>
    </Dialog>
  );
}

const NONE: Entry = { text: "", to: "" };

interface OptionProps {
  readonly entry: Entry;
  readonly id: string;
  readonly isCurrent: boolean;
  /** What it is one of. */
  readonly kind: string;
  readonly onChoose: () => void;
}

/** One that can be clicked; the keys are the field's, which keeps the focus. */
function Option({ entry: { text, hint = "" }, id, isCurrent, kind, onChoose }: OptionProps) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the combobox has the focus and the keys
    <div role="option" id={id} aria-selected={isCurrent} tabIndex={-1} onClick={onChoose}>
      <bdi>{cut(text, SHOWN)}</bdi> {hint === "" ? null : <bdi class="hint">{cut(hint, SHOWN)}</bdi>}{" "}
      <small class="quiet">{kind}</small>
    </div>
  );
}

interface Asked {
  /** What they were asked for. */
  readonly text: string;
  readonly groups: readonly Group[];
  /** That it is being looked, or why it cannot be; "" otherwise. */
  readonly said: string;
}

const NOTHING: Asked = { text: "", groups: [], said: "" };

/** People and hosts with the text, once typing pauses; only where the session's owner may see them. */
function useAsked(principal: Principal, text: string): Asked {
  const [asked, setAsked] = useState(NOTHING);
  const latest = useRef("");
  latest.current = text;
  const { user_type: kind, role = "auditor" } = principal;
  const isAsking = text !== "" && kind === "admin" && (maySee(role, "users") || maySee(role, "hosts"));
  useEffect(() => {
    if (!isAsking) return;
    const controller = new AbortController();
    const timer = setTimeout(() => {
      ask(role, text, controller.signal).then(
        (groups) => setAsked({ text, groups, said: "" }),
        (failure: unknown) => {
          if (!controller.signal.aborted) setAsked({ text, groups: [], said: sentenceOf(failure) });
        },
      );
    }, PAUSE);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [text, isAsking]);
  if (!isAsking) return NOTHING;
  // Nobody opens somebody who was found by another text.
  return asked.text === text ? asked : { ...NOTHING, said: texts.looking };
}

async function ask(role: NonNullable<Principal["role"]>, q: string, signal: AbortSignal): Promise<readonly Group[]> {
  const query = { q, page_size: String(MOST) };
  const [users, hosts] = await Promise.all([
    maySee(role, "users") ? api("GET /users", { query: { q, page_size: String(LOOKED) }, signal }) : undefined,
    maySee(role, "hosts") ? api("GET /hosts", { query: { ...query, q: q.slice(0, 63) }, signal }) : undefined,
  ]);
  const { items = [], total = 0 } = users ?? {};
  // Whoever is called so comes before those whose supervisor is, say.
  const name = q.toLowerCase();
  const rank = ({ username }: { readonly username: string }) =>
    username === name ? 2 : username.includes(name) ? 1 : 0;
  const people = items.toSorted((one, other) => rank(other) - rank(one)).slice(0, MOST);
  const more =
    total > people.length
      ? [{ text: texts.everybody, hint: String(total), to: `${PAGES.users}${searchOf({ q })}` }]
      : [];
  return [
    [
      "people",
      [
        ...people.map(({ id, username, full_name: name, email }) => ({
          text: username,
          hint: name === "" ? email : `${name}, ${email}`,
          to: userPage(id),
        })),
        ...more,
      ],
    ],
    ["hosts", (hosts?.items ?? []).map(({ id, name, ssh_host: hint }) => ({ text: name, hint, to: hostPage(id) }))],
  ];
}
