/** What stands beside the task of a public page: who offers this, what it is, and what comes next. */

import type { ComponentChildren } from "preact";
import { useInstallation } from "../../installation.ts";
import { publicTexts } from "../../texts/public.ts";
import { isolated } from "../../ui/isolated.ts";
import { Sentences } from "../../ui/sentences.tsx";

interface BesideProps {
  readonly title: string;
  readonly items: readonly string[];
  /** Whether they are steps, which are numbered. */
  readonly areSteps?: boolean;
  /** The task. */
  readonly children: ComponentChildren;
}

/** The task, and beside it, or below it where there is no room, what it is about. */
export function Beside({ title, items, areSteps = false, children }: BesideProps) {
  const brand = useInstallation()?.brand ?? "";
  return (
    <>
      <p class="lead">{publicTexts.about(isolated(brand))}</p>
      <div class="split">
        <div class="stack">{children}</div>
        <section class="about" aria-labelledby="about">
          <h2 id="about">{title}</h2>
          <Sentences items={items} areSteps={areSteps} />
        </section>
      </div>
    </>
  );
}
