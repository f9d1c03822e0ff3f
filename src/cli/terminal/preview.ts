/** `--preview`: shows the effects of a command without running it. */

import { message } from "@optique/core/message";
import { option } from "@optique/core/primitives";
import type { Context } from "../../domain/operation/context.ts";
import type { UserPreview } from "../../domain/users/preview.ts";
import type { Preview } from "../../shared/product/preview.ts";
import type { UserRow } from "../../store/schema.ts";
import { type CliEnvironment, type Command, EXIT, withServices } from "./environment.ts";
import { requireUserReferred } from "./find-user.ts";
import { printJson, visible } from "./output.ts";

/** `--preview`. */
export function previewFlag() {
  return option("--preview", { description: message`Only say what would happen. Nothing is changed or recorded.` });
}

/** Prints what a change to a user would do. */
export function previewUser(
  { user: reference, json }: { readonly user: string; readonly json: boolean },
  work: (context: Context, user: UserRow) => Promise<UserPreview>,
): Command {
  return async (environment) => {
    const preview = await withServices(environment, "read", async (context) =>
      work(context, await requireUserReferred(context, reference)),
    );
    const { userPreviewRecord } = await import("../../server/records.ts");
    return printPreview(environment, userPreviewRecord(preview), json);
  };
}

/** Prints a preview: as JSON, or its sentences, and under them what would change on the host. */
export function printPreview(environment: CliEnvironment, record: Preview, json: boolean): number {
  if (json) {
    printJson(environment, record);
    return EXIT.done;
  }
  for (const effect of record.effects) environment.out(`${visible(effect)}\n`);
  if (record.host.length > 0) environment.out("\nOn the host:\n");
  for (const line of record.host) environment.out(`  ${visible(line)}\n`);
  environment.err("Nothing was changed.\n");
  return EXIT.done;
}
