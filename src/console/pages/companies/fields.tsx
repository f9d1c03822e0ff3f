/** What can be changed of a company, as it is typed. */

import { MAX_COMPANY_NAME } from "../../../shared/product/limits.ts";
import type { AnswerOf, BodyOf } from "../../api.ts";
import { instantOf, localOf } from "../../local-time.ts";
import { companyTexts } from "../../texts/companies/companies.ts";
import { oneLine } from "../../typed-text.ts";
import { Area, Input } from "../../ui/field.tsx";
import { networksIn } from "../../ui/networks.tsx";
import { namesIn } from "../admin/names.ts";
import { HoursField, hoursIn, hoursText } from "../hours/hours-field.tsx";

export type Company = AnswerOf<"GET /companies/:id">;
export type CompanyField = keyof typeof companyTexts.fields;
export type CompanyChanges = BodyOf<"PATCH /companies/:id">;

export const FIELDS = Object.keys(companyTexts.fields) as readonly CompanyField[];

/** The value as its field has it. */
export function textOf(field: CompanyField, value: Company[CompanyField]): string {
  if (field === "hours") return hoursText(value as Company["hours"]);
  if (Array.isArray(value)) return value.join("\n");
  return field === "contract_end" ? localOf(String(value ?? "")) : String(value ?? "");
}

/** The typed text as a change; undefined for what is no value. */
export function changeIn(field: CompanyField, text: string): CompanyChanges | undefined {
  const typed = oneLine(text);
  switch (field) {
    case "name":
      return typed === "" ? undefined : { name: typed };
    case "contract_end":
      return { contract_end: instantOf(text, "since") || null };
    case "source_networks":
      return { source_networks: [...networksIn(text)] };
    case "host_groups":
      return { host_groups: [...namesIn(text)] };
    case "hours": {
      const hours = hoursIn(text);
      return hours === undefined ? undefined : { hours };
    }
    case "sponsor_email":
      return { sponsor_email: typed };
    default:
      return typed === "" || /^[1-9]\d{0,8}$/.test(typed) ? { [field]: Number(typed) || null } : undefined;
  }
}

/** Whether the form with the field has one that its browser says is not whole: a date without its time has no value. */
export function isTorn(): boolean {
  return document.querySelector("dialog input:invalid") !== null;
}

interface FieldProps {
  readonly field: CompanyField;
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly error: string | undefined;
}

export function LimitField({ field, text, onText, error }: FieldProps) {
  const { label, hint } = companyTexts.fields[field];
  if (field === "hours") return <HoursField {...{ label, hint, text, onText }} />;
  const props = { label, hint, error, name: field, value: text, onValue: onText };
  if (field === "source_networks" || field === "host_groups") {
    return <Area {...props} rows={3} spellcheck={false} autoCapitalize="none" />;
  }
  return (
    <Input
      {...props}
      type={field === "contract_end" ? "datetime-local" : field === "sponsor_email" ? "email" : "text"}
      inputMode={field.startsWith("max_") ? "numeric" : undefined}
      maxLength={field === "name" ? MAX_COMPANY_NAME : undefined}
      required={field === "name"}
      autocomplete="off"
    />
  );
}
