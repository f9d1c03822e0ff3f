/** Ways out of a profile that its account's owner tries, by real clients. */

import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ALIAS, runClient, startClient, writeClientConfig } from "../../../../src/host/profiles/trial/client.ts";
import { heardFrom } from "../../../../src/host/profiles/trial/listener.ts";
import { freePort } from "../../../support/port.ts";
import { KINDS, type Kind, TARGET, type World } from "./world.ts";

export interface Try {
  readonly name: string;
  readonly kind: Kind;
  /** All that came back. */
  readonly run: (world: World) => Promise<string>;
}

/** A client's own directory and configuration, for an account of that kind. */
function opened(world: World, kind: Kind): { readonly config: string; readonly directory: string } {
  const door = world.lab.door(world.memberOf(kind));
  return { config: writeClientConfig(door), directory: door.directory };
}

async function ssh(world: World, kind: Kind, args: readonly string[], input = ""): Promise<string> {
  const { stdout, stderr } = await runClient("ssh", ["-F", opened(world, kind).config, ...args], { input });
  return `${stdout}\n${stderr}`;
}

/** What a batch of sftp's says and fetches; a line that fails does not end it. */
async function sftp(world: World, kind: Kind, lines: (directory: string) => readonly string[]): Promise<string> {
  const { config, directory } = opened(world, kind);
  const input = lines(directory)
    .map((line) => `-${line}\n`)
    .join("");
  const { stdout, stderr } = await runClient("sftp", ["-F", config, "-b", "-", ALIAS], { input });
  const said = `${stdout}\n${stderr}`
    .split("\n")
    .filter((line) => !line.startsWith("sftp> "))
    .join("\n");
  return `${said}\n${fetchedIn(directory)}`;
}

function fetchedIn(directory: string): string {
  return readdirSync(directory)
    .filter((name) => name.startsWith("got"))
    .map((name) => join(directory, name))
    .map((path) => (statSync(path).isFile() ? readFileSync(path, "utf8") : fetchedIn(path)))
    .join("\n");
}

const each = (kinds: readonly Kind[], name: string, run: (world: World, kind: Kind) => Promise<string>): Try[] =>
  kinds.map((kind) => ({ name: `${kind}: ${name}`, kind, run: (world) => run(world, kind) }));

/** Around whatever a shell might be handed. */
const WRAPPINGS: readonly ((payload: string) => string)[] = [
  (payload) => payload,
  (payload) => `; ${payload} #`,
  (payload) => `$(${payload} >&2)`,
  (payload) => `\`${payload} >&2\``,
  (payload) => `"; ${payload}; "`,
  (payload) => `'; ${payload}; '`,
  (payload) => `x\n${payload}\n`,
  (payload) => `x\r\n${payload}`,
  (payload) => `|| ${payload}`,
  (payload) => `&& ${payload} &`,
  (payload) => `() { :; }; ${payload}`,
  (payload) => `-c '${payload}'`,
  (payload) => `internal-sftp; ${payload}`,
  (payload) => `/bin/sh -c '${payload}'`,
  (payload) => `%u ${payload}`,
  (payload) => `\${IFS}${payload}`,
  (payload) => `${"x".repeat(60_000)}; ${payload}`,
  (payload) => `\u2028${payload}\u0085${payload}`,
];

const commands = WRAPPINGS.flatMap((wrapped, index) =>
  each(KINDS, `a command, wrapped in way ${index}`, (world, kind) => ssh(world, kind, [ALIAS, wrapped(world.payload)])),
);

const shells = ["-T", "-tt", "-T -n", "-tt -e none"].flatMap((options) =>
  each(KINDS, `a shell with ${options}`, (world, kind) =>
    ssh(world, kind, [...options.split(" "), ALIAS], `${world.payload}\nexit\n`),
  ),
);

const SUBSYSTEMS = [
  "internal-sftp",
  "/usr/lib/openssh/sftp-server",
  "/bin/sh",
  "../../bin/sh",
  "sftp; sh",
  "shell",
  "",
];
const subsystems = SUBSYSTEMS.flatMap((name) =>
  each(KINDS, `the subsystem ${JSON.stringify(name)}`, (world, kind) =>
    ssh(world, kind, ["-s", ALIAS, name], `${world.payload}\n`),
  ),
);

const PROGRAMS: readonly ((world: World) => string)[] = [
  ({ secret }) => `scp -f ${secret}`,
  ({ drop }) => `scp -t ${drop}`,
  ({ secret }) => `rsync --server --sender -e.LsfxC . ${secret}`,
  () => "/usr/lib/openssh/sftp-server -d /",
  ({ payload }) => `git-upload-pack '; ${payload}'`,
  ({ secret }) => `cat ${secret}`,
  () => "exec -a -sh /bin/sh",
];
const programs = PROGRAMS.flatMap((program, index) =>
  each(KINDS, `program ${index}`, (world, kind) =>
    ssh(world, kind, [ALIAS, program(world)], `\0\0\0${world.payload}\n`),
  ),
);

const VARIABLES: readonly ((world: World) => string)[] = [
  ({ payload }) => `SSH_ORIGINAL_COMMAND=; ${payload}`,
  ({ drop }) => `LD_PRELOAD=${drop}/x.so`,
  ({ drop }) => `BASH_ENV=${drop}/x`,
  ({ payload }) => `PS4=$(${payload})`,
  () => "SHELLOPTS=xtrace",
  ({ payload }) => `BASH_FUNC_env%%=() { ${payload}; }`,
  ({ payload }) => `LC_ALL=$(${payload})`,
  ({ drop }) => `LOCPATH=${drop}`,
  ({ drop }) => `LC_MESSAGES=../../..${drop}`,
  ({ payload }) => `TERM=x; ${payload}`,
];
const environment = VARIABLES.flatMap((variable, index) =>
  each(["sftp", "forward", "command"], `variable ${index}`, (world, kind) =>
    ssh(world, kind, ["-tt", "-o", `SetEnv="${variable(world).replaceAll('"', "")}"`, ALIAS, "x"]),
  ),
);

/** The listener of ours, called otherwise than the one target that is let. */
const CALLED = [
  "127.0.0.1",
  "localhost",
  "[::1]",
  "0.0.0.0",
  "127.1",
  "2130706433",
  "0x7f.1",
  "[::ffff:127.0.0.1]",
  "127.0.0.1.",
];
const elsewhere = CALLED.flatMap((host) =>
  each(KINDS, `a connection to ${host}`, async (world, kind) => {
    const client = startClient("ssh", ["-F", opened(world, kind).config, "-vv", "-W", `${host}:${world.port}`, ALIAS], {
      stays: true,
    });
    await client.until(/open confirm/, /open failed/);
    client.stop();
    return client.said().stdout;
  }),
);

const BACK: readonly ((world: World, kind: Kind) => readonly string[])[] = [
  ({ port }) => ["-R", `0:127.0.0.1:${port}`],
  ({ port }) => ["-R", `0.0.0.0:0:127.0.0.1:${port}`],
  ({ port }) => ["-R", `*:0:127.0.0.1:${port}`],
  () => ["-R", "0"],
  ({ drop }, kind) => ["-R", `${drop}/socket-${kind}:127.0.0.1:9`],
  ({ secret }) => ["-R", `${secret}.socket:127.0.0.1:9`],
];
const back = BACK.flatMap((forward, index) =>
  each(KINDS, `the host listens, way ${index}`, async (world, kind) => {
    const args = [
      "-F",
      opened(world, kind).config,
      "-vv",
      "-N",
      "-o",
      "ExitOnForwardFailure=yes",
      ...forward(world, kind),
      ALIAS,
    ];
    const client = startClient("ssh", args, { stays: true });
    await client.until(/remote forward success|Allocated port|forward(ing)? fail/i);
    client.stop();
    // All that its own words could be mistaken for is what it asked.
    return client.said().stderr.replaceAll(world.payload, "");
  }),
);

const sockets = each(KINDS, "a connection to a socket of the host", async (world, kind) => {
  const free = await freePort();
  const client = startClient(
    "ssh",
    ["-F", opened(world, kind).config, "-vv", "-N", "-L", `127.0.0.1:${free}:${world.socket}`, ALIAS],
    { stays: true },
  );
  await client.until(/Local connections to .* forwarded|Local forwarding listening/);
  await client.until(/Entering interactive session/);
  const heard = await heardFrom(free);
  client.stop();
  return heard;
});

const PATHS: readonly ((world: World) => string)[] = [
  ({ secret }) => secret,
  ({ secret }) => `/../../..${secret}`,
  ({ secret }) => `//..//${secret}`,
  ({ secret }) => `absolute/../${secret}`,
  () => "absolute",
  () => "up",
  ({ secret }) => `root${secret}`,
  ({ secret }) => `self${secret}`,
  ({ secret }) => `top${secret}`,
  ({ secret }) => `~root/../${secret}`,
  ({ secret }) => `/proc/self/root${secret}`,
  ({ secret }) => `/proc/self/cwd/../../..${secret}`,
  ({ victim }) => victim,
];
const reading = PATHS.flatMap((path, index) =>
  each(KINDS, `a file at path ${index}`, (world, kind) =>
    sftp(world, kind, (directory) => [`get ${path(world)} ${directory}/got`, `ls -la ${path(world)}`]),
  ).filter(({ kind }) => index < PATHS.length - 1 || kind !== "read"),
);

const WRITES: readonly ((world: World, file: string) => readonly string[])[] = [
  ({ drop }, file) => [`put ${file} ${drop}/put`, `put ${file} top${drop}/put`, `put ${file} root${drop}/put`],
  (_, file) => [`put ${file} /put`, `mkdir /made`, `symlink / /linked`],
  (_, file) => [`put ${file} hard`, "chmod 644 hard", "get hard got"],
  ({ victim }, file) => [`put ${file} ${victim}`, `rm ${victim}`, `rename ${victim} stolen`, `chmod 777 ${victim}`],
  ({ secret }) => [`ln ${secret} hardlink`, "ln /../../etc/passwd hardlink2", `symlink ${secret} link`, "get link got"],
  () => ["chmod 777 /", "chmod 4777 /", "chown 0 .", "chgrp 0 .", "chown 0 hard", "chmod 4755 hard"],
  ({ victim }) => [`cp ${victim} stolen`, `cp /etc/passwd passwd`, "get stolen got"],
  ({ victim }) => [`rename .. /renamed`, `rename /${victim.split("/")[1]} /other`, `rmdir /${victim.split("/")[1]}`],
  (_, file) => [`put ${file} evil`, "chmod 755 evil", "mkdir .ssh", `put ${file} .ssh/rc`, `put ${file} .bashrc`],
  (_, file) => [`mkdir etc`, `mkdir etc/ssh`, `put ${file} etc/ssh/sshrc`, `put ${file} /etc/ssh/sshrc`],
  (_, file) => [`reput ${file} own`, `put -p ${file} new`, "rm own", "rename own other", "truncate own", "symlink a b"],
];
const writing = WRITES.flatMap((lines, index) =>
  each(KINDS, `files, way ${index}`, (world, kind) => {
    const file = join(world.lab.base, "payload");
    writeFileSync(file, `#!/bin/sh\n${world.payload}\n`);
    return sftp(world, kind, () => lines(world, file));
  }),
);

/** One connection swaps a directory for a link to the outside while the other walks through it. */
const races = [0, 1, 2].map(
  (round): Try => ({
    name: `sftp: a link swapped in while a path is walked, ${round}`,
    kind: "sftp",
    run: async (world) => {
      const [real, link, path] = [`real${round}`, `link${round}`, `path${round}`];
      const swaps = Array.from({ length: 40 }, () => [
        `rename ${path} ${real}`,
        `rename ${link} ${path}`,
        `rename ${path} ${link}`,
        `rename ${real} ${path}`,
      ]);
      await sftp(world, "sftp", () => [`mkdir ${path}`, `symlink ../../../../.. ${link}`]);
      const [, heard] = await Promise.all([
        sftp(world, "sftp", () => swaps.flat()),
        sftp(world, "sftp", (directory) =>
          Array.from({ length: 60 }, () => `get ${path}${world.secret} ${directory}/got`),
        ),
      ]);
      return heard;
    },
  }),
);

/** One connection, and as many sessions on it as it takes, of every sort at once. */
const channels = each(KINDS, "many channels on one connection", async (world, kind) => {
  const { config, directory } = opened(world, kind);
  const control = ["-F", config, "-S", join(directory, "control")];
  const master = startClient("ssh", [...control, "-M", "-N", "-v", ALIAS], { stays: true });
  await master.until(/Entering interactive session/);
  const asked: readonly (readonly string[])[] = [
    ...Array.from({ length: 6 }, () => [ALIAS, world.payload]),
    ...[
      ["-s", ALIAS, "sftp"],
      ["-tt", ALIAS],
      ["-T", ALIAS],
      ["-W", `127.0.0.1:${world.port}`, ALIAS],
    ],
    ...[
      ["-O", "forward", "-R", "0:127.0.0.1:9", ALIAS],
      ["-W", TARGET, ALIAS],
      ["-s", ALIAS, "shell"],
    ],
  ];
  // A session that the connection refuses is not asked for on another.
  const alone = ["-o", "ProxyCommand=false"];
  const said = await Promise.all(
    asked.map((args) => runClient("ssh", [...control, ...alone, ...args], { input: `${world.payload}\nexit\n` })),
  );
  master.stop();
  return said.map(({ stdout }) => stdout).join("\n");
});

/** With what is planted in the home: the login itself is the try. */
const planted = each(KINDS, "what was planted as shell, at a login", (world, kind) =>
  ssh(world, kind, ["-tt", ALIAS, "x"]),
);

export const TRIES: readonly Try[] = [
  ...[...commands, ...shells, ...subsystems, ...programs, ...environment],
  ...[...elsewhere, ...back, ...sockets, ...reading, ...writing, ...races, ...channels, ...planted],
];
