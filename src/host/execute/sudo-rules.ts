/** Every command that sudo mode can run for an account, taken from the very plans and commands that are carried out. Pure. */

import type { Account } from "../../protocol/host.ts";
import { UamError } from "../../shared/errors.ts";
import { type KeyFile, keyFileOf } from "../key-file/key-path.ts";
import {
  type Change,
  expectedOwner,
  planBeforeRemoval,
  planCreate,
  planKeys,
  planMark,
  planNoAgeing,
  planRemoveEntry,
  planRetireKeys,
  planShadow,
  planShut,
} from "../plan/plan.ts";
import type { HostSettings, Layout } from "../settings.ts";
import {
  closeDirectoryCommand,
  deleteTrashCommand,
  detachCommands,
  directoriesOf,
  endConnectionsCommand,
  endSessionCommand,
  forgetJobsCommand,
  installCommand,
  keepJobsCommand,
  keyFilesCommands,
  killSeenCommands,
  listTrashCommand,
  loginsCommand,
  lookCommand,
  makeDirectoryCommand,
  makeTrashCommand,
  moveHomeCommand,
  openHomeCommand,
  readCommand,
  refusalsCommand,
  removeFileCommand,
  removeOwnedCommand,
  type SudoCommand,
  secondKeyFile,
  sessionsCommand,
  shadowCommand,
  sweepCommand,
  viewCommand,
} from "./sudo-commands.ts";

/** Placeholders for values that differ from call to call. */
export interface Example {
  /** Open, so that its expiry date is in the commands. */
  readonly account: Account;
  /** Names that a home gets in the trash. */
  readonly mark: string;
  /** A path below a home, without the slash at its beginning. */
  readonly below: string;
  /** The names of several accounts. */
  readonly names: string;
  /** The id of an SSH session. */
  readonly session: string;
  /** A place in the journal. */
  readonly place: string;
}

/** The other inputs of the commands. */
export interface SudoMeans {
  /** How this program is run. */
  readonly program: readonly string[];
  readonly tools?: HostSettings["tools"];
}

/** Those commands, each once, in the order of an account's life. */
export function commandsFor(layout: Layout, example: Example, how: SudoMeans): readonly SudoCommand[] {
  const { account } = example;
  const owner = expectedOwner(layout, account);
  const second = secondKeyFile(layout);
  const shut = planShut(layout, owner, { others: [] });
  const changes = [
    ...planMark(layout, account),
    ...planCreate(layout, account),
    ...planKeys(layout, owner, ""),
    ...(second === undefined ? [] : planRetireKeys([keyFileOf(second, owner)])),
    ...planShadow(account),
    ...planNoAgeing(account),
    ...shut.refuse,
    ...shut.end,
    ...shut.clear,
    ...planBeforeRemoval(layout, owner),
    ...planRemoveEntry(account),
  ];
  const commands = [
    ...changes.flatMap((change) => commandsOf(change, example, how.program)),
    shadowCommand([example.names]),
    ...keyFilesCommands(account.name, how.tools),
    lookCommand(layout, how.program),
    sessionsCommand(account, how.program),
    endSessionCommand(account, example.session, how.program),
    loginsCommand(example.place, how.program),
    refusalsCommand(account, how.program),
    keepJobsCommand(account, how.program),
    forgetJobsCommand(how.program),
  ];
  const texts = commands.map(({ as, argv }) => JSON.stringify([as, argv]));
  return commands.filter((_, index) => texts.indexOf(texts[index] ?? "") === index);
}

function commandsOf(change: Change, example: Example, program: readonly string[]): readonly SudoCommand[] {
  switch (change.kind) {
    case "account-command":
    case "systemd-command":
      return [{ as: "root", argv: change.argv }];
    case "end-processes": {
      const { account } = change;
      return [...killSeenCommands(account), sweepCommand(account, program), endConnectionsCommand(account)];
    }
    case "shut-home":
    case "open-home":
      // Homes stay their owners'.
      return [];
    case "kill":
      throw new UamError("internal", "In sudo mode single processes cannot be ended");
    case "write-keys":
      return [openHomeCommand(change.file.owner.home), ...directoryCommands(change.file), ...fileCommands(change.file)];
    case "retire-keys":
      return fileCommands(change.file);
    case "remove-file":
      return [removeFileCommand(change.path)];
    case "remove-owned-files":
      return [removeOwnedCommand(change.directory, change.uid)];
    case "detach-fuse":
      return [change.path, `${change.path}/${example.below}`].flatMap(detachCommands);
    case "set-aside":
      if (change.path.length > 1) return [];
      return [
        makeTrashCommand(change.base),
        moveHomeCommand(change.base, example.account.name, example.mark),
        listTrashCommand(change.base),
        deleteTrashCommand(change.base, `${example.account.name}.${example.mark}`),
      ];
    case "make-trash":
      return [makeTrashCommand(change.base)];
    case "empty-trash":
      return [listTrashCommand(change.base)];
  }
}

function directoryCommands(file: KeyFile): readonly SudoCommand[] {
  return directoriesOf(file).flatMap((path) => [makeDirectoryCommand(path), closeDirectoryCommand(path)]);
}

function fileCommands(file: KeyFile): readonly SudoCommand[] {
  return [viewCommand(file), readCommand(file), installCommand(file.path)];
}
