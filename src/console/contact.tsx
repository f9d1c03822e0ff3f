/** Whom to ask. */

import { common } from "./texts/common.ts";
import { Typed } from "./ui/typed.tsx";

const ADDRESS = /^[^\s@<>"?&]+@[^\s@<>"?&]+\.[^\s@<>"?&]+$/;

/** An address as a link that writes to it, a sentence as it is; and words where nobody is named. */
export function Contact({ contact }: { readonly contact: string }) {
  if (contact === "") return <>{common.nobody}</>;
  if (!ADDRESS.test(contact)) return <Typed text={contact} />;
  return (
    <a href={`mailto:${encodeURIComponent(contact).replace("%40", "@")}`}>
      <bdi>{contact}</bdi>
    </a>
  );
}
