/** The second step of an external user's login: the code from the mail. */

import { useEffect, useState } from "preact/hooks";
import { ApiFailure, api } from "../../../api.ts";
import { useInstallation } from "../../../installation.ts";
import type { Principal } from "../../../session.tsx";
import { publicTexts } from "../../../texts/public.ts";
import { useAction } from "../../../ui/action.ts";
import { Button } from "../../../ui/button.tsx";
import { Input } from "../../../ui/field.tsx";
import { Form } from "../../../ui/form.tsx";
import { Notice } from "../../../ui/notice.tsx";
import { Sentences } from "../../../ui/sentences.tsx";
import { NameField } from "../name-field.tsx";
import { Refusal, reasonOf, type Saying } from "../refusal.tsx";
import { codeOf, type MailedCode, nameOf } from "./ways.ts";

interface CodeStepProps {
  readonly name: string;
  readonly onName: (name: string) => void;
  /** For whom a code was just asked; undefined if the code came otherwise. */
  readonly sentTo: string | undefined;
  /** From the link of a mail. */
  readonly link: MailedCode | undefined;
  readonly onEntered: (principal: Principal) => void;
  /** Where another code can be asked for. */
  readonly anotherUrl: string;
}

interface Errors {
  readonly name?: string;
  readonly code?: string;
}

export function CodeStep({ name, onName, sentTo, link, onEntered, anotherUrl }: CodeStepProps) {
  const [code, setCode] = useState(link?.code ?? "");
  const [errors, setErrors] = useState<Errors>({});
  // Another link may be opened in this tab.
  useEffect(() => {
    if (link !== undefined) setCode(link.code);
  }, [link]);
  const entering = useAction(async () => {
    const username = nameOf(name);
    const digits = codeOf(code);
    setErrors(faults(name, code));
    if (username === undefined || digits === undefined) return;
    try {
      onEntered(await api("POST /auth/otp/login", { body: { username, code: digits } }));
    } catch (error) {
      if (!(error instanceof ApiFailure && error.status === 401)) throw error;
      setErrors({ code: publicTexts.code.wrong });
    }
  });
  const { code: texts, login } = publicTexts;
  return (
    <Form onSubmit={() => void entering.run()}>
      {sentTo === undefined ? null : (
        <Notice kind="info" title={texts.sentTitle(sentTo)}>
          <p>{texts.sentText}</p>
        </Notice>
      )}
      {link === undefined ? null : (
        <Notice kind={link.code === "" ? "warn" : "info"}>
          <p>{link.code === "" ? texts.cutLink : texts.fromLink}</p>
        </Notice>
      )}
      <NameField value={name} onValue={onName} error={errors.name} />
      <Input
        label={texts.label}
        hint={texts.hint}
        name="code"
        inputMode="numeric"
        autocomplete="one-time-code"
        required
        value={code}
        onValue={setCode}
        error={errors.code}
      />
      <Refusal failure={entering.failure} saying={sayingOf(entering.failure)} />
      <p class="actions">
        <Button type="submit" kind="primary" busy={entering.busy && login.submitting}>
          {login.submit}
        </Button>
        <a class="button" href={anotherUrl}>
          {texts.another}
        </a>
      </p>
      {sentTo === undefined ? null : <NoMail />}
    </Form>
  );
}

/** Possible reasons if no mail comes. */
function NoMail() {
  const { code: texts } = publicTexts;
  const contact = useInstallation()?.contact ?? "";
  return (
    <details>
      <summary>{texts.noMail}</summary>
      <Sentences items={texts.noMailReasons} />
      {contact === "" ? null : <p class="typed">{texts.contact(contact)}</p>}
    </details>
  );
}

function faults(name: string, code: string): Errors {
  const { login, code: texts } = publicTexts;
  return {
    ...(nameOf(name) === undefined ? { name: name.trim() === "" ? login.nameMissing : login.nameStrange } : {}),
    ...(codeOf(code) === undefined ? { code: code.trim() === "" ? texts.missing : texts.notEight } : {}),
  };
}

function sayingOf(failure: unknown): Saying | undefined {
  const { code } = publicTexts;
  return reasonOf(failure) === "login.locked" ? { title: code.voidTitle, text: code.voidText } : undefined;
}
