/** What proves the make of a security key: a challenge for it to sign, the command that makes the key, and the files that come of it. */

import { useRef, useState } from "preact/hooks";
import { CHALLENGE_FILE } from "../../../../shared/product/attested-key.ts";
import { type AnswerOf, api, type BodyOf } from "../../../api.ts";
import { userTexts } from "../../../texts/user/user.ts";
import { useAction } from "../../../ui/action.ts";
import { Button } from "../../../ui/button.tsx";
import { moment } from "../../../ui/clock.ts";
import { Copyable } from "../../../ui/copy.tsx";
import { Failure } from "../../../ui/notice.tsx";

type Given = BodyOf<"POST /me/keys">["attestation"];

/** Of each file, in bytes; real ones have a thousand. */
const MOST = 8 * 1024;
/** How the file of ssh-keygen begins, after the length of it. */
const BEGIN = "ssh-sk-attest-";

/** Hands on both files once they are there, whichever of them came from this page. */
export function Proof({ onGiven }: { readonly onGiven: (given: Given) => void }) {
  const { proof } = userTexts.keys;
  const input = useRef<HTMLInputElement>(null);
  const [made, setMade] = useState<AnswerOf<"GET /me/keys/challenge">>();
  const [said, setSaid] = useState("");
  const asking = useAction(async () => setMade(await api("GET /me/keys/challenge")));

  async function take(files: readonly File[]) {
    let [challenge, statement] = [made?.challenge, ""];
    for (const file of files) {
      const text = file.size > MOST ? "" : String.fromCharCode(...new Uint8Array(await file.arrayBuffer()));
      if (text.startsWith(BEGIN, 4)) statement = btoa(text);
      else challenge = btoa(text);
    }
    const isWhole = challenge && statement;
    onGiven(isWhole ? { challenge: challenge ?? "", statement } : undefined);
    setSaid(isWhole ? proof.chosen(files.map(({ name }) => name).join(", ")) : proof.lacking);
    // The same file can be chosen again.
    if (input.current !== null) input.current.value = "";
  }

  return (
    <div class="stack tight">
      <h3>{proof.title}</h3>
      <p>{proof.lead}</p>
      <ol class="steps">
        <li>
          <div class="stack tight">
            <Button onClick={() => void asking.run()} busy={asking.busy && proof.asking}>
              {proof.ask}
            </Button>
            <Failure failure={asking.failure} />
            {made === undefined ? null : (
              <p>
                <a
                  href={`data:application/octet-stream;base64,${made.challenge}`}
                  download={CHALLENGE_FILE}
                  data-native
                >
                  {proof.save}
                </a>{" "}
                {proof.until(moment(made.expires_at))}
              </p>
            )}
          </div>
        </li>
        {made === undefined ? null : (
          <li>
            <div class="stack tight">
              <p>{proof.make}</p>
              <Copyable text={made.command} label={proof.command} />
            </div>
          </li>
        )}
        <li>
          <div class="stack tight">
            <p>{proof.give}</p>
            <input
              ref={input}
              type="file"
              multiple
              hidden
              aria-label={proof.choose}
              onChange={(event) => void take([...(event.currentTarget.files ?? [])])}
            />
            <Button onClick={() => input.current?.click()}>{proof.choose}</Button>
            <p role="status">{said}</p>
          </div>
        </li>
      </ol>
    </div>
  );
}
