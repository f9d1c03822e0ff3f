/** A company that is chosen by typing: there can be hundreds. */

import { useQuery } from "@tanstack/preact-query";
import { useRef, useState } from "preact/hooks";
import { companyPage } from "../../../shared/product/pages.ts";
import { api } from "../../api.ts";
import { companyTexts as texts } from "../../texts/companies/companies.ts";
import { number } from "../../texts/language.ts";
import { oneLine } from "../../typed-text.ts";
import { Input } from "../../ui/field.tsx";
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

/** The number of the company of that name, in any case; null for no name, undefined where there is none. */
async function idOf(typed: string): Promise<number | null | undefined> {
  const name = oneLine(typed);
  if (name === "") return null;
  const { items } = await api("GET /companies", { query: suggested(name) });
  const same = items.filter((one) => one.name.toLowerCase() === name.toLowerCase());
  return (same.find((one) => one.name === name) ?? same[0])?.id;
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

export function CompanyFilter({ id, onId }: FilterProps) {
  const [hint, setHint] = useState(choice.filterHint);
  const typed = useTyped(useName(id === "" ? null : Number(id)), async (text) => {
    try {
      const found = await idOf(text);
      setHint(found === undefined ? choice.unknown : choice.filterHint);
      if (found !== undefined) onId(String(found ?? ""));
    } catch (error) {
      setHint(sentenceOf(error));
    }
  });
  return <CompanyInput type="search" hint={hint} text={typed.value} onText={typed.type} />;
}

type OfCompany = Pick<UserRecord, "company_id" | "manager">;
const NONE: OfCompany = { company_id: null, manager: false };

interface ChoiceOptions {
  /** What is stored; nothing by default. */
  readonly user?: OfCompany;
  /** Whether nobody is asked if they manage it. */
  readonly alone?: boolean;
}

/** The `fields` of a user's company; and `read()`: what is changed of it, undefined for a name that is none, which the field then says. */
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
      const id = typed === undefined ? before.company_id : await idOf(typed);
      setError(id === undefined ? choice.unknown : undefined);
      if (id === undefined) return undefined;
      const now = { company_id: id, manager: id !== null && manager };
      if (id !== before.company_id) return now;
      return now.manager === before.manager ? {} : { manager };
    },
  };
}
