/** Creating the users of a file: what is in it and what is wrong comes first, then one confirmation, then what became of it. */

import { useRef, useState } from "preact/hooks";
import { MAX_IMPORT_BYTES } from "../../../../shared/product/limits.ts";
import { PAGES } from "../../../../shared/product/pages.ts";
import { api } from "../../../api.ts";
import { mayChange } from "../../../roles.ts";
import { signedIn } from "../../../signed-in.tsx";
import { importTexts as texts } from "../../../texts/admin/import.ts";
import { useAction } from "../../../ui/action.ts";
import { Button } from "../../../ui/button.tsx";
import { Form } from "../../../ui/form.tsx";
import { Failure } from "../../../ui/notice.tsx";
import { Page, Section } from "../../../ui/page.tsx";
import { Done, useDone } from "../done.tsx";
import { forRole, ReadOnly, useRole } from "../for-role.tsx";
import { CheckedFile, Faults, type Imported } from "./checked.tsx";
import { type CheckedBytes, ConfirmImport } from "./confirm.tsx";
import { NOTHING, type Source, SourceInput } from "./source.tsx";

export const ImportUsers = signedIn("admin", forRole("users", ImportPage));

function ImportPage() {
  return (
    <Page title={texts.title}>
      <ReadOnly area="users" />
      {mayChange(useRole(), "users") ? <Import /> : null}
    </Page>
  );
}

function Import() {
  const [source, setSource] = useState<Source>(NOTHING);
  const [error, setError] = useState<string>();
  const [checked, setChecked] = useState<CheckedBytes>();
  const [isConfirming, setConfirming] = useState(false);
  const done = useDone();
  const latest = useRef(source);
  latest.current = source;

  const check = useAction(async () => {
    const bytes = "text" in source ? new TextEncoder().encode(source.text) : source.bytes;
    const fault =
      bytes.length === 0 ? texts.empty : bytes.length > MAX_IMPORT_BYTES ? texts.tooLarge(MAX_IMPORT_BYTES) : undefined;
    setError(fault);
    if (fault !== undefined) return;
    setChecked(undefined);
    done.clear();
    const preview = await api("POST /users/import", { query: { preview: "true" }, body: { bytes } });
    // Nobody is shown the faults of another file.
    if ("preview" in preview && latest.current === source) setChecked({ bytes, preview });
  });

  function take(taken: Source) {
    setSource(taken);
    setError(undefined);
    setChecked(undefined);
    check.clear();
  }

  return (
    <>
      <Done what={done.what} />
      <p class="lead">{texts.lead}</p>
      <Section title={texts.file}>
        <p>{texts.columns}</p>
        <Form onSubmit={() => void check.run()}>
          <SourceInput source={source} error={error} onSource={take} />
          <div class="actions">
            <Button type="submit" kind="primary" busy={check.busy && texts.checking}>
              {texts.check}
            </Button>
          </div>
        </Form>
        <Failure failure={check.failure} />
      </Section>
      {checked === undefined ? null : <CheckedFile preview={checked.preview} onCreate={() => setConfirming(true)} />}
      {isConfirming && checked !== undefined ? (
        <ConfirmImport
          checked={checked}
          onClose={(hasFailed) => {
            setConfirming(false);
            if (hasFailed) setChecked(undefined);
          }}
          onDone={(imported, mail) => {
            setConfirming(false);
            take(NOTHING);
            const { created, faults } = imported;
            done.tell(texts.done(created), <Outcome {...{ imported, mail }} />, faults.total > 0 ? "warn" : "good");
          }}
        />
      ) : null}
    </>
  );
}

/** Below how many were created: whom it left out, and where to go on. */
function Outcome({ imported: { created, faults }, mail }: { readonly imported: Imported; readonly mail: boolean }) {
  return (
    <>
      <Faults title={texts.left} faults={faults} />
      {mail || created === 0 ? null : <a href={`${PAGES.users}?welcome=pending`}>{texts.pending}</a>}
      <a href={PAGES.users}>{texts.list}</a>
    </>
  );
}
