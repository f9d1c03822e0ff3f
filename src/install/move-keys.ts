/** Moving the key files out of the homes of an installation in direct mode, without a moment in which no valid file is read. */

import { withKeyFile } from "./environment.ts";
import { KEYS_STEP } from "./install.ts";
import { command, type Step } from "./plan.ts";
import {
  CENTRAL_KEY_FILE,
  ENVIRONMENT_FILE,
  type InstallSettings,
  KEYS_DIRECTORY,
  UNIT,
  UNIT_FILE,
} from "./settings.ts";
import { revokedKeysStep, sshdDropInStep } from "./sshd-drop-in.ts";
import { renderUnit } from "./unit.ts";

/** The state before the move; any part of it may already be as an earlier attempt left it. */
export interface MoveSettings extends InstallSettings {
  readonly sshUnit: string;
  /** The texts of uam.env and of the sshd drop-in; undefined if there is none. */
  readonly environment: string;
  readonly dropIn: string | undefined;
}

/** Three parts, each safe to repeat. */
export interface Move {
  /** sshd reads both places; the new one is empty. */
  readonly prepare: readonly Step[];
  /** From now on the service writes to the new place first, and then moves away what it finds in the old one. */
  readonly change: readonly Step[];
  /** Only once every account has its new file: from then on sshd reads nothing else. */
  readonly finish: readonly Step[];
}

/** sshd re-reads its configuration some time after the signal, and does not report when. */
const SETTLE = command(["sleep", "2"]);

/** The parts of the move; once it is done, only the last, since an earlier attempt may have stopped before sshd reloaded. */
export function planMove(settings: MoveSettings): Move {
  const { authorizedKeysFile: configured, dropIn, sshUnit } = settings;
  const told = placesIn(dropIn);
  const old = configured === CENTRAL_KEY_FILE ? told.filter((place) => place !== CENTRAL_KEY_FILE) : [configured];
  const reload = [command(["systemctl", "try-reload-or-restart", sshUnit]), SETTLE];
  const finish = [sshdDropInStep(CENTRAL_KEY_FILE), ...reload];
  if (old.length === 0) return { prepare: [], change: [], finish };
  // An old file there may hold a key that was revoked since.
  const isFresh = configured !== CENTRAL_KEY_FILE && !told.includes(CENTRAL_KEY_FILE);
  return {
    prepare: [
      KEYS_STEP,
      ...(isFresh ? [{ kind: "empty", path: KEYS_DIRECTORY } as const] : []),
      revokedKeysStep(),
      sshdDropInStep([CENTRAL_KEY_FILE, ...old].join(" ")),
      ...reload,
    ],
    change: [
      {
        ...{ kind: "file", path: ENVIRONMENT_FILE, mode: 0o640, owner: "root", group: "root", keep: false },
        content: withKeyFile(settings.environment, CENTRAL_KEY_FILE),
      },
      {
        ...{ kind: "file", path: UNIT_FILE, mode: 0o644, owner: "root", group: "root", keep: false },
        content: renderUnit({ ...settings, authorizedKeysFile: CENTRAL_KEY_FILE }),
      },
      command(["systemctl", "daemon-reload"]),
      command(["systemctl", "try-restart", UNIT]),
    ],
    finish,
  };
}

function placesIn(dropIn: string | undefined): readonly string[] {
  return (
    /^\s*AuthorizedKeysFile\s+(.*)$/m
      .exec(dropIn ?? "")?.[1]
      ?.trim()
      .split(/\s+/) ?? []
  );
}
