/** Adding a key: it is read here first, shown with what will happen, sent, and then compared with what the service read. */

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { PAGES } from "../../../../shared/product/pages.ts";
import { api, type BodyOf } from "../../../api.ts";
import type { PrivateFormat } from "../../../keys/fault.ts";
import { MAX_NAME, nameFromComment } from "../../../keys/key-name.ts";
import { privateFormatOf } from "../../../keys/private-key.ts";
import { type PublicKey, readPublicKey } from "../../../keys/public-key.ts";
import { uploadOf } from "../../../keys/upload.ts";
import { forgetAnswers } from "../../../signed-in.tsx";
import { userTexts } from "../../../texts/user/user.ts";
import { type Action, useAction } from "../../../ui/action.ts";
import { announce } from "../../../ui/announce.tsx";
import { Button } from "../../../ui/button.tsx";
import { endMoment } from "../../../ui/clock.ts";
import { Input } from "../../../ui/field.tsx";
import { Form } from "../../../ui/form.tsx";
import { isolated } from "../../../ui/isolated.ts";
import { Failure, Notice } from "../../../ui/notice.tsx";
import { Typed } from "../../../ui/typed.tsx";
import { type OwnAccount, type OwnKey, useOwnHosts } from "../own-account.ts";
import { OwnCommand } from "../own-command.tsx";
import { KeyInput } from "./key-input.tsx";
import { Proof } from "./proof.tsx";

interface AddKeyProps {
  readonly own: OwnAccount;
  readonly keys: readonly OwnKey[];
  /** Whether the make of keys has to be proven. */
  readonly isProven: boolean;
}

/** A key that was added: what this page read, and what the service says of it. */
interface Added {
  readonly name: string;
  readonly page: string;
  readonly service: string;
}

export function AddKey(props: AddKeyProps) {
  const { own } = props;
  const [added, setAdded] = useState<Added>();
  // The focused element went with the previous step.
  const [isAgain, setAgain] = useState(false);
  function again() {
    setAgain(true);
    setAdded(undefined);
  }
  if (added !== undefined) return <Done added={added} own={own} onAnother={again} />;
  return <KeyForm {...props} onAdded={setAdded} isFocused={isAgain} />;
}

interface FormProps extends AddKeyProps {
  readonly onAdded: (added: Added) => void;
  /** Whether it takes the focus when it appears. */
  readonly isFocused: boolean;
}

function KeyForm({ own, keys, isProven, onAdded, isFocused }: FormProps) {
  const { add, faults } = userTexts.keys;
  const [text, setText] = useState("");
  // Until somebody types one, the comment proposes it.
  const [typedName, setTypedName] = useState<string>();
  const [nameFault, setNameFault] = useState<string>();
  const [attestation, setAttestation] = useState<BodyOf<"POST /me/keys">["attestation"]>();
  const [wiped, setWiped] = useState<PrivateFormat>();
  const read = useMemo(() => (text.trim() === "" ? undefined : readPublicKey(text)), [text]);
  const key = read !== undefined && "key" in read ? read.key : undefined;
  const fault = read !== undefined && "fault" in read ? read.fault : undefined;
  const name = typedName ?? nameFromComment(key?.comment ?? "");
  const twin = keys.find(({ fingerprint }) => fingerprint === key?.fingerprint);

  useEffect(() => {
    if (key !== undefined) announce(add.announced(key.type, key.bits));
  }, [key]);

  function take(given: string): boolean {
    const format = privateFormatOf(given);
    // Emptying the field is an event of its own to some browsers, and must not take away why it is empty.
    if (given !== "") setWiped(format);
    setText(format === undefined ? given : "");
    adding.clear();
    return format === undefined;
  }

  const adding = useAction(async () => {
    const upload = uploadOf(text, name);
    if ("nameFault" in upload) return setNameFault(upload.nameFault);
    if ("fault" in upload) {
      // The text has none, or the button would not be here: it is the name.
      if (upload.fault.kind === "private") setWiped(upload.fault.format);
      return setTypedName("");
    }
    setNameFault(undefined);
    // Without an answer it may have been added all the same, and after a refusal something is other than this page thinks.
    const record = await api("POST /me/keys", {
      body: { ...upload.body, ...(attestation && { attestation }) },
    }).finally(() => void forgetAnswers());
    onAdded({ name: record.name, page: upload.fingerprint, service: record.fingerprint });
  });

  return (
    <Form
      class="form wide"
      onSubmit={() => {
        if (key !== undefined && twin === undefined) void adding.run();
      }}
    >
      {isProven ? <Proof onGiven={setAttestation} /> : null}
      <p>{add.lead}</p>
      <KeyInput
        value={text}
        error={fault === undefined ? undefined : faults.text(fault)}
        onText={take}
        isFocused={isFocused}
      />
      {wiped === undefined ? null : <Wiped format={wiped} />}
      {key === undefined ? null : (
        <>
          <KeyFacts read={key} />
          {twin === undefined ? (
            <Naming name={name} fault={nameFault} onName={setTypedName} {...{ own, adding, isProven }} />
          ) : (
            <Notice kind="warn">
              <p>{add.duplicate(isolated(twin.name))}</p>
            </Notice>
          )}
        </>
      )}
    </Form>
  );
}

interface NamingProps extends Pick<AddKeyProps, "isProven"> {
  readonly name: string;
  readonly fault: string | undefined;
  readonly onName: (name: string) => void;
  readonly own: OwnAccount;
  readonly adding: Pick<Action<[]>, "busy" | "failure">;
}

/** The name of a key that can be added, what will happen, and the button. */
function Naming({ name, fault, onName, own, adding, isProven }: NamingProps) {
  const { add } = userTexts.keys;
  return (
    <>
      <Input
        label={add.name}
        hint={add.nameHint}
        error={fault}
        value={name}
        onValue={onName}
        name="key-name"
        autocomplete="off"
        maxLength={MAX_NAME * 2}
        required
      />
      <Effects {...{ own, isProven }} />
      <Failure failure={adding.failure} />
      <div class="actions">
        <Button type="submit" kind="primary" busy={adding.busy && add.busy}>
          {add.submit}
        </Button>
      </div>
    </>
  );
}

function Wiped({ format }: { readonly format: PrivateFormat }) {
  const { privateKey } = userTexts.keys;
  return (
    <Notice kind="bad" title={privateKey.title}>
      <p>{privateKey.text}</p>
      <p>{privateKey.advice[format]}</p>
    </Notice>
  );
}

function KeyFacts({ read }: { readonly read: PublicKey }) {
  const { keys } = userTexts;
  const { add } = keys;
  return (
    <div class="stack tight">
      <h3>{add.read}</h3>
      <dl class="facts">
        <dt>{keys.type}</dt>
        <dd>{keys.typeOf(read.type, read.bits)}</dd>
        <dt>{keys.fingerprint}</dt>
        <dd>
          <code>{read.fingerprint}</code>
        </dd>
        <dt>{add.comment}</dt>
        <dd>{read.comment === "" ? <span class="quiet">{add.noComment}</span> : <Typed text={read.comment} />}</dd>
      </dl>
      {read.isConverted ? <p class="hint">{add.converted}</p> : null}
    </div>
  );
}

function Effects({ own, isProven }: Pick<AddKeyProps, "own" | "isProven">) {
  const { add } = userTexts.keys;
  const [first, second] = useOwnHosts().data?.items ?? [];
  const at = first === undefined ? own.ssh : first.ssh;
  return (
    <div class="stack tight">
      <h3>{add.effectsTitle}</h3>
      <ul>
        <li>{add.effects({ account: own.host_account, at, isSeveral: second !== undefined })}</li>
        <li>{add.until(endMoment(own.expire_at))}</li>
        <li>{isProven ? add.sentProof : add.sent}</li>
        <li>{add.mailed}</li>
      </ul>
    </div>
  );
}

interface DoneProps {
  readonly added: Added;
  readonly own: OwnAccount;
  readonly onAnother: () => void;
}

function Done({ added, own, onAnother }: DoneProps) {
  const { add } = userTexts.keys;
  const place = useRef<HTMLDivElement>(null);
  const isSame = added.page === added.service;
  // The focused element went with the form.
  useLayoutEffect(() => place.current?.focus(), []);
  return (
    <div class="stack">
      <div ref={place} tabIndex={-1}>
        {isSame ? (
          <Notice kind="good" title={add.doneTitle(isolated(added.name))}>
            <p>
              {add.done} <code>{added.service}</code>
            </p>
          </Notice>
        ) : (
          <Notice kind="bad" title={add.doneTitle(isolated(added.name))}>
            <p>{add.differs}</p>
            <dl class="facts">
              <dt>{add.page}</dt>
              <dd>
                <code>{added.page}</code>
              </dd>
              <dt>{add.service}</dt>
              <dd>
                <code>{added.service}</code>
              </dd>
            </dl>
          </Notice>
        )}
      </div>
      {isSame ? (
        <>
          {own.ssh === null ? null : (
            <>
              <p>{add.connect}</p>
              <OwnCommand own={own} label={add.connectLabel} />
              <p class="hint">{add.elsewhere}</p>
            </>
          )}
          <p>
            <a href={PAGES.connect}>{add.firstTime}</a>
          </p>
        </>
      ) : null}
      <div class="actions">
        <Button onClick={onAnother}>{add.another}</Button>
      </div>
    </div>
  );
}
