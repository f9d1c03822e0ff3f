/** The changes of a company: a limit, with what that takes from whom; its end, and going on after it; deleting it. */

import { useState } from "preact/hooks";
import { api } from "../../api.ts";
import { forgetAnswers } from "../../signed-in.tsx";
import { companyTexts as texts } from "../../texts/companies/companies.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import type { DialogProps } from "../../ui/use-dialog.ts";
import { PreviewedDialog } from "../admin/previewed-dialog.tsx";
import { useChangeAction } from "../admin/user/use-change.ts";
import {
  type Company,
  type CompanyChanges,
  type CompanyField,
  changeIn,
  isTorn,
  LimitField,
  textOf,
} from "./fields.tsx";

interface CompanyDialogProps extends DialogProps {
  readonly company: Company;
}

type Preview = { readonly preview?: "true" };

export function ChangeLimit({
  company,
  field,
  onClose,
  onDone,
}: CompanyDialogProps & { readonly field: CompanyField }) {
  const { change, fields, wrong } = texts;
  // As it was when the dialog was opened.
  const [before] = useState(textOf(field, company[field]));
  const [text, setText] = useState(before);
  const [torn, setTorn] = useState(false);
  const wanted = changeIn(field, text);
  const ask = (body: CompanyChanges, query: Preview) =>
    api("PATCH /companies/:id", { params: { id: company.id }, query, body });
  return (
    <PreviewedDialog
      title={change.title(company.name, fields[field].label)}
      texts={change}
      wanted={text === before ? undefined : wanted}
      preview={(body) => ask(body, { preview: "true" })}
      change={async (body) => {
        await ask(body, {});
        return change.done(company.name);
      }}
      isConfirmed={() => {
        setTorn(isTorn());
        return !isTorn();
      }}
      {...{ onClose, onDone }}
    >
      <LimitField
        {...{ field, text }}
        onText={(typed) => {
          setText(typed);
          setTorn(false);
        }}
        error={torn || wanted === undefined ? wrong : undefined}
      />
    </PreviewedDialog>
  );
}

export function EndCompany({ company: { id, name }, onClose, onDone }: CompanyDialogProps) {
  const ask = (query: Preview) => api("POST /companies/:id/end", { params: { id }, query });
  return (
    <PreviewedDialog
      title={texts.end.title(name)}
      texts={texts.end}
      wanted={{ id }}
      preview={() => ask({ preview: "true" })}
      change={async () => {
        await ask({});
        return texts.end.done(name);
      }}
      isDanger
      {...{ onClose, onDone }}
    />
  );
}

export function ResumeCompany({ company: { id, name }, onClose, onDone }: CompanyDialogProps) {
  const { resume } = texts;
  const work = useChangeAction(async () => {
    await api("POST /companies/:id/resume", { params: { id } });
    onDone(resume.done(name));
  });
  return (
    <FormDialog title={resume.title(name)} texts={resume} {...{ work, onClose }}>
      <p>{resume.text}</p>
    </FormDialog>
  );
}

export function DeleteCompany({ company: { id, name }, onClose, onDone }: CompanyDialogProps) {
  const { remove } = texts;
  const work = useChangeAction(async () => {
    await api("DELETE /companies/:id", { params: { id } });
    void forgetAnswers();
    onDone("");
  });
  return (
    <FormDialog title={remove.title(name)} texts={remove} isDanger {...{ work, onClose }}>
      <p>{remove.text}</p>
    </FormDialog>
  );
}
