/** How to make a key on one's own machine, for each system. The page itself makes none. */

import { userTexts } from "../../../texts/user/user.ts";
import { Copyable } from "../../../ui/copy.tsx";
import { Section } from "../../../ui/page.tsx";
import { Sentences } from "../../../ui/sentences.tsx";
import { platformOf } from "./platform.ts";

const MAKE = "ssh-keygen -t ed25519";
const FACTOR = "-sk -O verify-required";

interface MakeKeyProps {
  /** Whether the commands of the reader's system are shown at once. */
  readonly isOpen: boolean;
  /** Whether it has to be a security key, which asks for touch and PIN. */
  readonly isFactor: boolean;
}

export function MakeKey({ isOpen, isFactor }: MakeKeyProps) {
  const { make } = userTexts.keys;
  const file = isFactor ? "id_ed25519_sk.pub" : "id_ed25519.pub";
  const platform = platformOf(navigator.userAgent);
  const title = (system: string, isYours: boolean) => (isYours ? `${system} ${make.yours}` : system);
  const unix = (
    <details key="unix" open={isOpen && platform === "unix"}>
      <summary>{title(make.unix, platform === "unix")}</summary>
      <Steps system={make.unix} isFactor={isFactor} show={`cat ~/.ssh/${file}`} showText={make.step.show} />
    </details>
  );
  const windows = (
    <details key="windows" open={isOpen && platform === "windows"}>
      <summary>{title(make.windows, platform === "windows")}</summary>
      <p class="hint">{make.windowsNote}</p>
      <Steps
        system={make.windows}
        isFactor={isFactor}
        show={`Get-Content $HOME\\.ssh\\${file} | Set-Clipboard`}
        showText={make.step.clip}
      />
    </details>
  );
  return (
    <Section title={make.title}>
      <p>{make.lead}</p>
      <div>
        {platform === "windows" ? [windows, unix] : [unix, windows]}
        {isFactor ? null : (
          <details>
            <summary>{make.putty}</summary>
            <Sentences items={make.puttySteps} areSteps />
          </details>
        )}
      </div>
    </Section>
  );
}

interface StepsProps {
  readonly system: string;
  readonly isFactor: boolean;
  readonly show: string;
  readonly showText: string;
}

function Steps({ system, isFactor, show, showText }: StepsProps) {
  const { make } = userTexts.keys;
  return (
    <ol class="steps">
      <li>
        <div class="stack tight">
          <p>{isFactor ? make.step.factor : make.step.make}</p>
          <Copyable text={isFactor ? MAKE + FACTOR : MAKE} label={make.makeLabel(system)} />
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
