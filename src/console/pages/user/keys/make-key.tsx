/** How to make a key on one's own machine, for each system. The page itself makes none. */

import { userTexts } from "../../../texts/user/user.ts";
import { Copyable } from "../../../ui/copy.tsx";
import { Section } from "../../../ui/page.tsx";
import { Sentences } from "../../../ui/sentences.tsx";
import { platformOf } from "./platform.ts";

const MAKE = "ssh-keygen -t ed25519";
const SHOW = "cat ~/.ssh/id_ed25519.pub";
const CLIP = "Get-Content $HOME\\.ssh\\id_ed25519.pub | Set-Clipboard";

/** `isOpen`: whether the commands of the reader's system are shown at once. */
export function MakeKey({ isOpen }: { readonly isOpen: boolean }) {
  const { make } = userTexts.keys;
  const platform = platformOf(navigator.userAgent);
  const title = (system: string, isYours: boolean) => (isYours ? `${system} ${make.yours}` : system);
  const unix = (
    <details key="unix" open={isOpen && platform === "unix"}>
      <summary>{title(make.unix, platform === "unix")}</summary>
      <Steps system={make.unix} show={SHOW} showText={make.step.show} />
    </details>
  );
  const windows = (
    <details key="windows" open={isOpen && platform === "windows"}>
      <summary>{title(make.windows, platform === "windows")}</summary>
      <p class="hint">{make.windowsNote}</p>
      <Steps system={make.windows} show={CLIP} showText={make.step.clip} />
    </details>
  );
  return (
    <Section title={make.title}>
      <p>{make.lead}</p>
      <div>
        {platform === "windows" ? [windows, unix] : [unix, windows]}
        <details>
          <summary>{make.putty}</summary>
          <Sentences items={make.puttySteps} areSteps />
        </details>
      </div>
    </Section>
  );
}

interface StepsProps {
  readonly system: string;
  readonly show: string;
  readonly showText: string;
}

function Steps({ system, show, showText }: StepsProps) {
  const { make } = userTexts.keys;
  return (
    <ol class="steps">
      <li>
        <div class="stack tight">
          <p>{make.step.make}</p>
          <Copyable text={MAKE} label={make.makeLabel(system)} />
          <p class="hint">{make.step.exists}</p>
        </div>
      </li>
      <li>
        <div class="stack tight">
          <p>{showText}</p>
          <Copyable text={show} label={make.showLabel(system)} />
        </div>
      </li>
    </ol>
  );
}
