/** What clients do with files. */

import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { ALIAS, hasClient, runClient, type Said } from "./client.ts";
import { type Deed, happened, never, readsFiles, runsCommands, type Trial, writesFiles } from "./deed.ts";

const CONTENT = "uam-content";

/** Runs one batch; "happened" where sftp says of none of its lines that it failed. */
function sftp({ config }: Trial, ...lines: readonly string[]): Promise<Said> {
  return runClient("sftp", ["-F", config, "-b", "-", ALIAS], { input: `${lines.join("\n")}\n` });
}

/** A name that no file of an earlier trial has. */
const named = ({ door }: Trial, name: string): string => `${basename(door.directory)}-${name}`;

/** A file of the account's, made as the account, and its path as clients say it; who is to have no files has a home that is root's. */
async function planted(trial: Trial, name: string): Promise<string> {
  if (!readsFiles(trial.profile)) return `${trial.place}${named(trial, name)}`;
  const id = String(trial.uid);
  const path = join(trial.placeHere, named(trial, name));
  const argv = ["--reuid", id, "--regid", id, "--clear-groups", "--", "/usr/bin/tee", path];
  const { status, stderr } = await runClient("setpriv", argv, { input: CONTENT });
  if (status !== 0) throw new Error(`no file could be made in ${trial.placeHere}: ${stderr.trim()}`);
  return `${trial.place}${named(trial, name)}`;
}

/** A file of this machine's to send. */
function sent({ door }: Trial, name: string): string {
  const path = join(door.directory, name);
  writeFileSync(path, CONTENT);
  return path;
}

function arrived(path: string, content = CONTENT): boolean {
  try {
    return readFileSync(path, "utf8").startsWith(content);
  } catch {
    return false;
  }
}

const get: Deed = {
  name: "sftp: get a file of their own",
  may: readsFiles,
  tries: async (trial) => {
    const here = join(trial.door.directory, "got");
    await sftp(trial, `get ${await planted(trial, "get")} ${here}`);
    return happened(arrived(here));
  },
};

const put: Deed = {
  name: "sftp: put a file",
  may: writesFiles,
  tries: async (trial) => {
    const there = named(trial, "put");
    await sftp(trial, `put ${sent(trial, "put")} ${trial.place}${there}`);
    return happened(arrived(join(trial.placeHere, there)));
  },
};

/** A change of a file that is there. */
const changing = (name: string, may: Deed["may"], line: (path: string) => string): Deed => ({
  name: `sftp: ${name}`,
  may,
  tries: async (trial) => {
    const path = await planted(trial, name.split(" ")[0] ?? "");
    return happened((await sftp(trial, line(path))).status === 0);
  },
});

const rename = changing("rename a file", writesFiles, (path) => `rename ${path} ${path}.new`);
const symlink = changing("symlink", writesFiles, (path) => `symlink ${path} ${path}.link`);
const chmod = changing("chmod a file of their own", writesFiles, (path) => `chmod 600 ${path}`);
const remove = changing("remove a file", writesFiles, (path) => `rm ${path}`);
const makeDirectory = changing("mkdir", writesFiles, (path) => `mkdir ${path}.directory`);
const chmodOutside = changing("chmod the root", never, () => "chmod 777 /");

const getOutside: Deed = {
  name: "sftp: get /etc/passwd",
  may: runsCommands,
  tries: async (trial) => {
    const here = join(trial.door.directory, "passwd");
    await sftp(trial, `get /etc/passwd ${here}`);
    return happened(arrived(here, "root:"));
  },
};

const throughLink: Deed = {
  name: "sftp: get /etc/passwd through a link of their own",
  may: runsCommands,
  tries: async (trial) => {
    const here = join(trial.door.directory, "linked");
    const link = `${trial.place}${named(trial, "link")}`;
    await sftp(trial, `symlink /etc/passwd ${link}`, `get ${link} ${here}`);
    return happened(arrived(here, "root:"));
  },
};

const putOutside: Deed = {
  name: "sftp: put a file into /tmp",
  may: runsCommands,
  tries: async (trial) => {
    const there = `/tmp/${named(trial, "outside")}`;
    await sftp(trial, `put ${sent(trial, "outside")} ${there}`, `-rm ${there}.none`);
    const seen = happened(arrived(there));
    if (seen === "happened") await sftp(trial, `rm ${there}`);
    return seen;
  },
};

const copied = (name: string, protocol: "-s" | "-O", may: Deed["may"]): Deed => ({
  name,
  may,
  tries: async (trial) => {
    const target = named(trial, `scp${protocol}`);
    await runClient("scp", [protocol, "-F", trial.config, sent(trial, target), `${ALIAS}:${trial.place}${target}`]);
    return happened(arrived(join(trial.placeHere, target)));
  },
});

const scp = copied("scp that speaks sftp: send a file", "-s", writesFiles);
const oldScp = copied("the old scp (-O): send a file", "-O", runsCommands);

const scpBack: Deed = {
  name: "scp that speaks sftp: fetch a file",
  may: readsFiles,
  tries: async (trial) => {
    const here = join(trial.door.directory, "fetched");
    const there = await planted(trial, "fetch");
    await runClient("scp", ["-s", "-F", trial.config, `${ALIAS}:${there}`, here]);
    return happened(arrived(here));
  },
};

const rsync: Deed = {
  name: "rsync",
  may: runsCommands,
  tries: async (trial) => {
    if (!hasClient("rsync")) return { untried: "this host has no rsync" };
    const target = named(trial, "rsync");
    const { stderr } = await runClient("rsync", [
      "-e",
      `ssh -F ${trial.config}`,
      sent(trial, target),
      `${ALIAS}:${trial.place}`,
    ]);
    if (runsCommands(trial.profile) && /rsync: (command )?not found/.test(stderr))
      return { untried: "this host has no rsync" };
    return happened(arrived(join(trial.placeHere, target)));
  },
};

export const FILES: readonly Deed[] = [
  ...[get, put, rename, symlink, chmod, remove, makeDirectory, chmodOutside, getOutside, throughLink, putOutside],
  ...[scp, scpBack, oldScp, rsync],
];
