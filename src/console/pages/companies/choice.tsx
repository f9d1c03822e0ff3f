/** A company that is chosen by typing: there can be hundreds. */

import { useQuery } from "@tanstack/preact-query";
import { useRef, useState } from "preact/hooks";
import { companyPage } from "../../../shared/product/pages.ts";
import { api } from "../../api.ts";
import { companyTexts as texts } from "../../texts/companies/companies.ts";
import { number } from "../../texts/language.ts";
import { oneLine } from "../../typed-text.ts";
import { Input } from "../../ui/field.tsx";
import { isolated } from "../../ui/isolated.ts";
import { sentenceOf } from "../../ui/notice.tsx";
import { useTyped } from "../../ui/use-typed.ts";
import { useUniqueId } from "../../unique-id.ts";
import { useApi } from "../../use-api.tsx";
import { useSettled } from "../admin/user/change-dialog.tsx";
import type { UserRecord } from "../admin/user/record.ts";

const { choice } = texts;

/** As long as the longest name, and as what the service searches for. */
const MAX_TYPED = 128;

/** Companies whose name has the text: as many as anybody chooses from. */
function suggested(text: string) {
  return { ...(text === "" ? {} : { q: text }), page_size: "100" };
}

interface Found {
  /** The number of the company of that name, in any case; null for no name. */
  readonly id?: number | null | undefined;
  /** Otherwise the only one whose name has the text. */
  readonly only?: { readonly id: number; readonly name: string } | undefined;
  /** Why it is neither. */
  readonly fault?: string;
}

async function find(typed: string): Promise<Found> {
  const name = oneLine(typed);
  if (name === "") return { id: null };
  const { items, total } = await api("GET /companies", { query: suggested(name) });
  const same = items.filter((one) => one.name.toLowerCase() === name.toLowerCase());
  const meant = same.find((one) => one.name === name) ?? same[0];
  if (meant !== undefined) return { id: meant.id };
  return total === 1 ? { only: items[0] } : { fault: total === 0 ? choice.unknown : choice.several(total) };
}

/** The company once it is known; nothing for none. */
export function useCompanyRecord(id: number | null) {
  const params = { id: id ?? 0 };
  return useQuery({
    queryKey: ["GET /companies/:id", params, {}],
    queryFn: () => api("GET /companies/:id", { params }),
    enabled: id !== null,
  }).data;
}

/** The company's name once it is known; "" for none. */
function useName(id: number | null): string {
  return useCompanyRecord(id)?.name ?? "";
}

/** The same, and until it is known the name of the company before. */
function useLastName(id: number | null): string {
  const record = useCompanyRecord(id);
  const last = useRef("");
  if (id === null) last.current = "";
  else if (record !== undefined) last.current = record.name;
  return last.current;
}

/** Among the facts about a user: the company, which leads to its page, and that they manage it. */
export function CompanyFact({ user: { company_id: id, manager } }: { readonly user: OfCompany }) {
  const name = useName(id);
  if (id === null) return null;
  return (
    <>
      <dt>{texts.one}</dt>
      <dd>
        <a href={companyPage(id)}>
          <bdi>{name || number(id)}</bdi>
        </a>
        {manager ? ` (${choice.isManager})` : null}
      </dd>
    </>
  );
}

interface InputProps {
  readonly hint: string;
  readonly error?: string | undefined;
  readonly type?: "search";
  readonly text: string;
  readonly onText: (text: string) => void;
  /** Told when somebody has typed, and leaves the field or presses Enter. */
  readonly onChange?: () => void;
}

/** The field, with suggestions; nothing as long as there is no company. */
function CompanyInput({ text, onText, ...rest }: InputProps) {
  const list = useUniqueId();
  const { data } = useApi("GET /companies", { query: suggested(oneLine(useSettled(text))) });
  // Not taken away again under the fingers of somebody who types a name that there is not.
  const isUsed = useRef(false);
  isUsed.current ||= text !== "" || (data?.total ?? 0) > 0;
  if (!isUsed.current) return null;
  return (
    <>
      <Input
        {...rest}
        label={texts.one}
        value={text}
        onValue={onText}
        {...{ list, maxLength: MAX_TYPED, autocomplete: "off" }}
      />
      <datalist id={list}>
        {data?.items.map(({ id, name }) => (
          <option key={id} value={name} />
        ))}
      </datalist>
    </>
  );
}

interface FilterProps {
  /** As the address has it; "" for any. */
  readonly id: string;
  readonly onId: (id: string) => void;
}

/** A part of a name that is only one company's chooses it once it is typed: not under the fingers of who is typing. */
export function CompanyFilter({ id, onId }: FilterProps) {
  const [hint, setHint] = useState(choice.filterHint);
  const name = useLastName(id === "" ? null : Number(id));
  const look = async (text: string, isTyped = false) => {
    try {
      const { only, fault = choice.filterHint, id: named } = await find(text);
      const found = isTyped && only !== undefined ? only.id : named;
      setHint(found === undefined && only !== undefined ? choice.only(isolated(only.name)) : fault);
      if (found !== undefined) onId(String(found ?? ""));
    } catch (error) {
      setHint(sentenceOf(error));
    }
  };
  const typed = useTyped(name, look);
  const onChange = () => (typed.value === name ? undefined : void look(typed.value, true));
  return <CompanyInput type="search" hint={hint} text={typed.value} onText={typed.type} onChange={onChange} />;
}

type OfCompany = Pick<UserRecord, "company_id" | "manager">;
const NONE: OfCompany = { company_id: null, manager: false };

interface ChoiceOptions {
  /** What is stored; nothing by default. */
  readonly user?: OfCompany;
  /** Whether nobody is asked if they manage it. */
  readonly alone?: boolean;
}

/** The `fields` of a user's company; and `read()`: what is changed of it, undefined for a name that is none, or only a part of one, which the field then says. */
export function useCompany({ user = NONE, alone = false }: ChoiceOptions = {}) {
  const [before] = useState(user);
  const [typed, setTyped] = useState<string>();
  const [manager, setManager] = useState(before.manager);
  const [error, setError] = useState<string>();
  const name = useName(before.company_id);
  const text = typed ?? name;
  return {
    isChosen: text.trim() !== "",
    fields: (
      <>
        <CompanyInput
          {...{ hint: choice.hint, error, text }}
          onText={(value) => {
            setTyped(value);
            setError(undefined);
          }}
        />
        {alone || text.trim() === "" ? null : (
          <label class="check">
            <input type="checkbox" checked={manager} onInput={(event) => setManager(event.currentTarget.checked)} />
            <span>{choice.manager}</span>
          </label>
        )}
      </>
    ),
    read: async (): Promise<Partial<OfCompany> | undefined> => {
      const { id, only, fault }: Found = typed === undefined ? { id: before.company_id } : await find(typed);
      // It is seen before it counts: what has the text may be another one than was meant.
      if (only !== undefined) setTyped(only.name);
      setError(only === undefined ? fault : choice.completed(isolated(only.name)));
      if (id === undefined) return undefined;
      const now = { company_id: id, manager: id !== null && manager };
      if (id !== before.company_id) return now;
      return now.manager === before.manager ? {} : { manager };
    },
  };
}
