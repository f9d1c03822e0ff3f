/** The check as a person sees it: work that goes on by itself, or a picture with a field. */

import { useEffect, useRef, useState } from "preact/hooks";
import { api } from "../../../api.ts";
import { publicTexts } from "../../../texts/public.ts";
import { Button } from "../../../ui/button.tsx";
import { now } from "../../../ui/clock.ts";
import { Input } from "../../../ui/field.tsx";
import { Failure } from "../../../ui/notice.tsx";
import { type CheckState, createHumanCheck, type HumanCheck, type PictureState } from "./human-check.ts";

/** A check for as long as the page shows it. */
export function useHumanCheck(): { readonly check: HumanCheck; readonly state: CheckState } {
  const [state, show] = useState<CheckState>({ kind: "idle" });
  const [check] = useState(() =>
    createHumanCheck(
      {
        fetch: (signal) => api("GET /auth/captcha", { signal }),
        // Only those who ask for a code need it.
        solve: async (proof, watch) => await (await import("./proof.ts")).solve(proof, watch),
        now,
      },
      show,
    ),
  );
  useEffect(() => () => check.stop(), []);
  return { check, state };
}

interface CheckProps {
  readonly check: HumanCheck;
  readonly state: CheckState;
  /** The text read in the picture. */
  readonly read: string;
  readonly onRead: (read: string) => void;
  readonly error: string | undefined;
}

/** The check; nothing until it has begun, or where there is none. */
export function CheckView(props: CheckProps) {
  const { check, state } = props;
  const box = useRef<HTMLFieldSetElement>(null);
  if (state.kind === "idle" || state.kind === "off") return null;
  // The button that was pressed goes, so the focus would.
  const prefer = (picture: boolean) => {
    box.current?.focus();
    check.preferPicture(picture);
  };
  return (
    <fieldset class="check-box" ref={box} tabIndex={-1}>
      <legend>{publicTexts.check.label}</legend>
      {state.kind === "picture" ? (
        <Picture {...props} picture={state} prefer={prefer} />
      ) : (
        <Work check={check} state={state} prefer={prefer} />
      )}
    </fieldset>
  );
}

interface PartProps {
  readonly prefer: (picture: boolean) => void;
}

function Picture({
  check,
  picture,
  prefer,
  read,
  onRead,
  error,
}: CheckProps & PartProps & { readonly picture: PictureState }) {
  const texts = publicTexts.check;
  const { image, hasProof, isOld = false } = picture;
  return (
    <>
      <img class="captcha" src={image} alt={hasProof ? texts.alt : texts.altOnly} aria-busy={isOld} />
      <p class="actions">
        <Button
          busy={isOld && texts.fetching}
          onClick={() => {
            onRead("");
            check.renew();
          }}
        >
          {texts.another}
        </Button>
        {hasProof ? <Button onClick={() => prefer(false)}>{texts.work}</Button> : null}
      </p>
      <Input
        label={texts.field}
        hint={texts.hint}
        name="picture"
        autocomplete="off"
        autocapitalize="characters"
        required
        value={read}
        onValue={onRead}
        error={error}
      />
    </>
  );
}

function Work({ check, state, prefer }: Pick<CheckProps, "check" | "state"> & PartProps) {
  const texts = publicTexts.check;
  const hasPicture = "image" in state && state.image !== "";
  return (
    <>
      {state.kind === "failed" ? (
        <Failure failure={state.failure} onRetry={() => check.renew()} />
      ) : (
        <>
          <p role="status">{state.kind === "solved" ? `✓ ${texts.solved}` : texts.working}</p>
          {state.kind === "solved" ? null : <Progress share={state.kind === "working" ? state.share : 0} />}
        </>
      )}
      {hasPicture ? (
        <p>
          <Button onClick={() => prefer(true)}>{texts.picture}</Button>
        </p>
      ) : null}
    </>
  );
}

/** How much of the work is done at most; the bar's text says that it may be less. */
function Progress({ share }: { readonly share: number }) {
  const texts = publicTexts.check;
  return <progress max={1} value={share} aria-label={texts.label} aria-valuetext={texts.share(share)} />;
}
