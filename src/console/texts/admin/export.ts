/** Lists as files. */

import { inLanguage } from "../language.ts";

const en = {
  title: "Export as a file",
  whole: "All of it, in every column.",
  filtered: "What the filters above match, in every column.",
  recorded: "The export is recorded in the audit log.",
  formats: { csv: "Export as CSV", jsonl: "Export as JSON lines" },
  starting: "The service prepares the file …",
  received: (size: string) => `${size} received so far …`,
  cancel: "Stop the export",
  cancelled: "The export was stopped. Nothing was saved.",
  done: (name: string, size: string) => `${name} is complete (${size}) and was handed to your browser to save.`,
  again: "Save it again",
  broken: "The file ended early, so nothing was saved. Try again.",
};

export const exportTexts = inLanguage({ en });
