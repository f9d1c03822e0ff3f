/** uam user import: the users of a CSV file. */

import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { object } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map } from "@optique/core/modifiers";
import { argument, command, option } from "@optique/core/primitives";
import { string } from "@optique/core/valueparser";
import type { Checked } from "../../../domain/users/import/check.ts";
import { UamError } from "../../../shared/errors.ts";
import { MAX_IMPORT_BYTES } from "../../../shared/product/limits.ts";
import { counted } from "../../../shared/text/counted.ts";
import { jsonFlag } from "../../terminal/arguments.ts";
import { type CliEnvironment, type Command, EXIT, withServices } from "../../terminal/environment.ts";
import { type Column, printJson, printTable, visible } from "../../terminal/output.ts";
import { yesFlag } from "./confirmed.ts";

export const importCommand = command(
  "import",
  map(
    object({
      file: argument(string({ metavar: "FILE" }), {
        description: message`CSV with a header that names fields of a user, as in username,email; - is standard input.`,
      }),
      preview: option("--preview", { description: message`Only say what would be imported.` }),
      onlyGood: option("--only-good", {
        description: message`Import the lines that have no fault, although others have some.`,
      }),
      noMail: option("--no-mail", {
        description: message`Tell nobody yet; uam user welcome does it later.`,
      }),
      yes: yesFlag(),
      json: jsonFlag(),
    }),
    (input) => run(input),
  ),
  {
    brief: message`Create the users of a CSV file.`,
    description: message`Checks each line and names each fault with its line. Creates nobody if there is one, unless --only-good is given. Asks before it creates anybody, unless --yes is given. Exits with 1 if there are faults and --only-good is not given, or if not all could be created; those who were stay.`,
  },
);

interface Input {
  readonly file: string;
  readonly preview: boolean;
  readonly onlyGood: boolean;
  readonly noMail: boolean;
  readonly yes: boolean;
  readonly json: boolean;
}

function run(input: Input): Command {
  return async (environment) => {
    const { preview, onlyGood, noMail, yes, json } = input;
    const { ask } = environment;
    if (!preview && !yes && (ask === undefined || input.file === "-")) {
      environment.err("uam: Importing needs --yes if there is no terminal to ask at.\n");
      return EXIT.usage;
    }
    const bytes = await readInput(environment, input.file);
    const { checkImport } = await import("../../../domain/users/import/check.ts");
    const { importUsers } = await import("../../../domain/users/import/import-users.ts");
    const { importPreviewRecord, importRecord } = await import("../../../server/import-record.ts");
    return await withServices(environment, preview ? "read" : "change", async (context) => {
      const checked = await checkImport(context, bytes);
      const hasFaults = checked.faults.total > 0 && !onlyGood;
      const isOver = preview || hasFaults || checked.good.length === 0;
      if (isOver && json) printJson(environment, importPreviewRecord(checked));
      if (!json) await printChecked(environment, checked);
      if (!json && hasFaults) {
        const orLeaveOut = checked.good.length > 0 ? ", or give --only-good for the lines without one" : "";
        environment.err(`A line that has a fault keeps all others from being imported: correct it${orLeaveOut}.\n`);
      }
      if (isOver) return hasFaults ? EXIT.failed : EXIT.done;
      const answer = yes ? "yes" : await ask?.(`Create ${counted(checked.good.length, "user")}? [y/N] `);
      if (!/^y(es)?$/i.test(answer ?? "")) {
        environment.err("Nobody was imported.\n");
        return EXIT.failed;
      }
      const imported = await importUsers(context, bytes, { onlyGood, mail: !noMail });
      if (json) printJson(environment, importRecord(imported));
      else environment.err(`${counted(imported.created.length, "user")} created.\n`);
      return EXIT.done;
    });
  };
}

type Fault = Checked["faults"]["items"][number];

const COLUMNS: readonly Column<Fault>[] = [
  { header: "LINE", value: ({ line }) => line },
  { header: "COLUMN", value: ({ column }) => column || "-" },
  { header: "FAULT", value: ({ error }) => error },
];

/** The table of faults to whoever reads the output, the rest to people. */
async function printChecked(environment: CliEnvironment, checked: Checked): Promise<void> {
  const { users, good, ignored, faults } = checked;
  if (ignored.length > 0) environment.err(`Columns that are not read: ${ignored.map(visible).join(", ")}\n`);
  if (faults.items.length > 0) await printTable(environment, COLUMNS, faults.items);
  const left = faults.total - faults.items.length;
  if (left > 0) environment.err(`And ${counted(left, "more fault")}.\n`);
  const others = [
    ...(faults.existing > 0 ? [`${faults.existing} there already`] : []),
    ...(faults.faulty > 0 ? [`${faults.faulty} with faults`] : []),
  ];
  environment.err(`${counted(users, "user")}: ${[`${good.length} new`, ...others].join(", ")}.\n`);
}

async function readInput(environment: CliEnvironment, file: string): Promise<Uint8Array> {
  if (file === "-") {
    const text = await environment.readStandardInput();
    // Decoding puts this in place of bytes that are not UTF-8: names must not be stored with holes.
    if (text.includes("\uFFFD")) throw new UamError("invalid", "The file is not in UTF-8");
    return bounded(new TextEncoder().encode(text));
  }
  try {
    return readBounded(resolve(environment.currentDirectory, file));
  } catch (error) {
    if (error instanceof UamError) throw error;
    const why = error instanceof Error && "code" in error ? ` (${String(error.code)})` : "";
    throw new UamError("invalid", `${file} cannot be read${why}; "-" reads standard input, which your shell opens`);
  }
}

/** Does not wait for a pipe, and reads no more than a file of users may have. */
function readBounded(path: string): Uint8Array {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw new UamError("invalid", `${path} is not a file`);
    if (stat.size > MAX_IMPORT_BYTES) throw tooLarge();
    return bounded(readFileSync(fd));
  } finally {
    closeSync(fd);
  }
}

function bounded(bytes: Uint8Array): Uint8Array {
  if (bytes.length > MAX_IMPORT_BYTES) throw tooLarge();
  return bytes;
}

function tooLarge(): UamError {
  return new UamError("invalid", `The file is larger than ${MAX_IMPORT_BYTES} bytes; split it`);
}
