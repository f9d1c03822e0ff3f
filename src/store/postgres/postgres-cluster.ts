/** The data directory: created once, checked at every start, never created over something that exists. */

import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  chownSync,
  closeSync,
  constants,
  existsSync,
  fchownSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { UamError } from "../../shared/errors.ts";
import { explainOutput } from "./postgres-output.ts";
import {
  chooseInitialiser,
  chooseServerOwner,
  commandPrefix,
  handOver,
  isRoot,
  type Owner,
  ownerOf,
  ownIdentity,
  servedAccounts,
} from "./postgres-owner.ts";
import { POSTGRES_MAJOR } from "./postgres-tree.ts";

/** Where things are under `<data directory>/postgres`. */
export interface Layout {
  readonly root: string;
  readonly data: string;
  readonly run: string;
  readonly logFile: string;
}

/** The database role the program works as, and the database of the same name. */
export const ROLE = "uam";
/** The role that owns the server; used to create the database only. */
export const SUPERUSER = "postgres";

const INITIALISING = "initdb-";
const persistently = { recursive: true, force: true, maxRetries: 20, retryDelay: 100 };

/** A directory is passed to PostgreSQL as this, so that no parent of it has to be open to the server's uid. */
export const HERE = "/proc/self/cwd";

export const serverEnvironment: Readonly<Record<string, string>> = {
  PATH: "/usr/bin:/bin",
  LC_ALL: "C.UTF-8",
  TZ: "UTC",
};

/**
 * The uid the server runs under: the owner of the data, or one chosen for data yet to be created. Throws `conflict` when there
 * is another major version, something that is not a database, or an owner we cannot become.
 */
export function prepareOwner(layout: Layout): Owner {
  return existsSync(layout.data) ? checkCluster(layout) : chooseServerOwner();
}

/** Removes what initialisations that crashed have left; a crash can leave initdb itself running, and writing, for a moment. */
export function removeUnfinished(layout: Layout): void {
  for (const name of readdirSync(layout.root)) {
    if (name.startsWith(INITIALISING)) rmSync(join(layout.root, name), persistently);
  }
}

/** Creates the data directory with the programs in `home`; it appears complete, or not at all. */
export async function initialiseCluster(
  layout: Layout,
  owner: Owner,
  how: { home: string; fsync: boolean },
): Promise<void> {
  // initdb works in a directory nobody else can enter; only a complete result is ever called "data".
  const staging = join(layout.root, `${INITIALISING}${randomBytes(6).toString("hex")}`);
  const fresh = join(staging, "data");
  const runner = chooseInitialiser(owner);
  mkdirSync(staging, { mode: 0o700 });
  try {
    mkdirSync(fresh, { mode: 0o700 });
    if (isRoot()) chownSync(fresh, runner.uid, runner.gid);
    await runInitdb(join(how.home, "bin/initdb"), fresh, runner, how.fsync);
    if (isRoot()) handOver(fresh, owner);
    renameSync(fresh, layout.data);
  } finally {
    rmSync(staging, persistently);
  }
}

/** Writes who may connect (peer authentication, only the accounts of this service) and empties the socket directory. */
export function writeAccessRules(layout: Layout, owner: Owner): void {
  const names = servedAccounts(owner);
  const map = names.flatMap((name) => [`uam "${name}" ${ROLE}`, `uam "${name}" ${SUPERUSER}`]);
  replaceFile(layout.data, "pg_hba.conf", "# Written at each start.\nlocal all all peer map=uam\n");
  replaceFile(layout.data, "pg_ident.conf", `# Written at each start.\n${map.join("\n")}\n`);
  rmSync(layout.run, { recursive: true, force: true });
  mkdirSync(layout.run, { mode: 0o700 });
  if (isRoot()) chownSync(layout.run, owner.uid, owner.gid);
}

/** Opens a file of ours for appending; created with the owner of the directory, and never through a link. */
export function openOwn(path: string, flags: number, owner: Owner, mode = 0o600): number {
  const fd = openSync(path, flags | constants.O_CREAT | constants.O_NOFOLLOW, mode);
  if (isRoot()) fchownSync(fd, owner.uid, owner.gid);
  return fd;
}

function checkCluster(layout: Layout): Owner {
  const versionFile = join(layout.data, "PG_VERSION");
  if (!existsSync(versionFile)) {
    throw new UamError(
      "conflict",
      `${layout.data} exists but holds no PostgreSQL data; move it away, or restore a backup into an empty data directory.`,
    );
  }
  const version = readFileSync(versionFile, "utf8").trim();
  if (version !== String(POSTGRES_MAJOR)) {
    throw new UamError(
      "conflict",
      `The data directory ${layout.data} holds PostgreSQL ${version} data; this binary carries ${POSTGRES_MAJOR}. ` +
        "Make a backup with the uam release that wrote it, and restore that backup into an empty data directory.",
    );
  }
  const owner = ownerOf(layout.data);
  if (!isRoot() && owner.uid !== ownIdentity().uid) {
    const message = `${layout.data} belongs to uid ${owner.uid} and this process runs as uid ${ownIdentity().uid}; run uam as that user or as root.`;
    throw new UamError("conflict", message);
  }
  if (owner.uid !== 0) return owner;
  // Copied back by root without its owner: PostgreSQL refuses to run as root, so it gets one as a new one would.
  const chosen = chooseServerOwner();
  handOver(layout.data, chosen);
  return chosen;
}

function runInitdb(program: string, cwd: string, runner: Owner, sync: boolean): Promise<void> {
  const locale = ["--locale-provider=builtin", "--locale=C.UTF-8", "--encoding=UTF8"];
  const rest = ["--auth=peer", "--no-instructions", `--username=${SUPERUSER}`, ...(sync ? [] : ["--no-sync"])];
  const prefix = commandPrefix(runner, "KILL");
  const argv = [...prefix.argv, program, "-D", HERE, ...locale, ...rest];
  return new Promise((resolve, reject) => {
    const child = spawn(argv[0] ?? "", argv.slice(1), {
      ...prefix.identity,
      cwd,
      env: serverEnvironment,
      // Its own session: Ctrl-C ends us, and our end ends it, but never it alone.
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const output: string[] = [];
    child.stdout.on("data", (piece: Buffer) => output.push(piece.toString()));
    child.stderr.on("data", (piece: Buffer) => output.push(piece.toString()));
    child.on("error", (cause) => reject(failure(explainOutput(cause.message), cause)));
    child.on("close", (code, signal) => {
      if (code === 0) resolve();
      else reject(failure(`${signal ?? `exit code ${code}`}: ${explainOutput(output.join(""))}`));
    });
  });
}

function failure(reason: string, cause?: unknown): UamError {
  return new UamError("internal", `The database could not be initialised: ${reason}`, { cause });
}

function replaceFile(directory: string, name: string, text: string): void {
  const temporary = join(directory, `${name}.${randomBytes(6).toString("hex")}`);
  try {
    const fd = openOwn(temporary, constants.O_WRONLY | constants.O_EXCL, ownerOf(directory));
    try {
      writeSync(fd, text);
    } finally {
      closeSync(fd);
    }
    renameSync(temporary, join(directory, name));
  } finally {
    rmSync(temporary, { force: true });
  }
}
