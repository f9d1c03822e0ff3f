/** What clients ask a session for: a shell, commands, a terminal, and what comes along with one. */

import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { ALIAS, hasClient, runClient, type Said, startClient } from "./client.ts";
import {
  type Deed,
  forwardsAll,
  happened,
  never,
  runsCommands,
  SAID_42,
  SAYS_42,
  type Seen,
  type Trial,
} from "./deed.ts";

const ssh = ({ config }: Trial, ...args: readonly string[]): Promise<Said> => runClient("ssh", ["-F", config, ...args]);
const says42 = ({ stdout }: Said): Seen => happened(SAID_42.test(stdout));
const NOT_FOUND = /not found|No such file/;

const shell: Deed = {
  name: "a shell",
  may: runsCommands,
  tries: async ({ config }) =>
    says42(await runClient("ssh", ["-F", config, "-T", ALIAS], { input: `${SAYS_42}\nexit\n` })),
};

const command: Deed = {
  name: "a command",
  may: runsCommands,
  tries: async (trial) => says42(await ssh(trial, ALIAS, SAYS_42)),
};

const terminal: Deed = {
  name: "a terminal",
  may: runsCommands,
  tries: async (trial) => happened(/\/dev\/pts\/\d/.test((await ssh(trial, "-tt", ALIAS, "tty")).stdout)),
};

const dangerousEnvironment: Deed = {
  name: "LD_PRELOAD of the client's",
  may: never,
  tries: async (trial) =>
    says42(await ssh(trial, "-o", "SetEnv=LD_PRELOAD=uam", ALIAS, `[ "$LD_PRELOAD" = uam ] && ${SAYS_42}`)),
};

const withoutKey: Deed = {
  name: "a login without a key",
  may: never,
  tries: async (trial) => {
    const others = ["none", "password", "keyboard-interactive", "hostbased", "gssapi-with-mic"].join(",");
    const options = ["-o", "PubkeyAuthentication=no", "-o", `PreferredAuthentications=${others}`];
    return happened((await ssh(trial, ...options, "-N", "-v", ALIAS)).stderr.includes("Authenticated to "));
  },
};

const agent: Deed = {
  name: "an agent forwarded",
  may: never,
  tries: async (trial) => {
    const socket = join(trial.door.directory, "agent");
    const local = startClient("ssh-agent", ["-D", "-a", socket]);
    await local.until(/SSH_AUTH_SOCK/);
    try {
      const options = ["-F", trial.config, "-A", ALIAS];
      const environment = { SSH_AUTH_SOCK: socket };
      const asked = startClient("ssh", [...options, `test -S "$SSH_AUTH_SOCK" && ${SAYS_42}; cat`], {
        environment,
        stays: true,
      });
      // Whatever runs for it, sshd has made the socket by then, or refuses to.
      await Promise.race([asked.until(SAID_42), new Promise((resolve) => setTimeout(resolve, 1500))]);
      const { stdout } = asked.said();
      const made = agentSockets(trial.uid);
      asked.stop();
      return happened(SAID_42.test(stdout) || made);
    } finally {
      local.stop();
    }
  },
};

/** Whether sshd has made that account a socket for an agent; since OpenSSH 10.1 they are below the home. */
function agentSockets(uid: number): boolean {
  return readdirSync("/tmp").some((name) => {
    if (!name.startsWith("ssh-")) return false;
    try {
      return lstatSync(join("/tmp", name)).uid === uid;
    } catch {
      return false;
    }
  });
}

const x11: Deed = {
  name: "X11 forwarded",
  may: (profile) => forwardsAll(profile),
  tries: async ({ config, profile }) => {
    const environment = { DISPLAY: "127.0.0.1:99" };
    const { stderr } = await runClient("ssh", ["-F", config, "-v", "-Y", ALIAS, "true"], { environment });
    const granted =
      /Requesting X11 forwarding/.test(stderr) && !/X11 forwarding request failed|open failed/.test(stderr);
    if (!granted && forwardsAll(profile) && !hasClient("xauth")) return { untried: "this host has no xauth" };
    return happened(granted);
  },
};

const otherSubsystem: Deed = {
  name: "a subsystem that is not sftp",
  may: never,
  tries: async (trial) => happened((await ssh(trial, "-s", ALIAS, "netconf")).status === 0),
};

const mosh: Deed = {
  name: "mosh",
  may: runsCommands,
  tries: async (trial) => {
    const { stdout, stderr } = await ssh(
      trial,
      "-o",
      "SetEnv=LC_ALL=C.UTF-8",
      ALIAS,
      "LC_ALL=C.UTF-8 mosh-server new -c 8 -- sleep 1",
    );
    if (runsCommands(trial.profile) && NOT_FOUND.test(stderr)) return { untried: "this host has no mosh-server" };
    return happened(stdout.includes("MOSH CONNECT"));
  },
};

const git: Deed = {
  name: "git",
  may: runsCommands,
  tries: async ({ config, profile }) => {
    if (!hasClient("git")) return { untried: "this host has no git" };
    const environment = { GIT_SSH_COMMAND: `ssh -F ${config}` };
    const { stderr } = await runClient("git", ["ls-remote", `${ALIAS}:no-such-repository`], { environment });
    if (runsCommands(profile) && /git-upload-pack: (command )?not found/.test(stderr))
      return { untried: "this host has no git" };
    return happened(/does not appear to be a git repository/.test(stderr));
  },
};

const oneTooMany: Deed = {
  name: "one session more than allowed",
  may: never,
  tries: async (trial) => {
    const { maxSessions, kind } = trial.profile;
    if (maxSessions === undefined) return { untried: "the profile has no max_sessions" };
    if (kind === "command") return { untried: "the program may end at once" };
    const socket = join(trial.door.directory, "control");
    const master = startClient("ssh", ["-F", trial.config, "-v", "-M", "-S", socket, "-N", ALIAS], { stays: true });
    const what = kind === "sftp" ? ["-s", ALIAS, "sftp"] : [ALIAS, "cat"];
    const another = () => startClient("ssh", ["-F", trial.config, "-v", "-S", socket, ...what], { stays: true });
    try {
      await master.until(/Entering interactive session|control_persist|setting up multiplex master/);
      const taken = [];
      for (let session = 0; session <= maxSessions; session++) {
        const client = another();
        taken.push(client);
        await client.until(/master session id|session request failed|refused by peer/);
      }
      const answers = taken.map((client) => /session request failed|refused by peer/.test(client.said().stderr));
      for (const client of taken) client.stop();
      return answers.some(Boolean) ? "refused" : "happened";
    } finally {
      master.stop();
    }
  },
};

export const SESSIONS: readonly Deed[] = [
  ...[shell, command, terminal, dangerousEnvironment, withoutKey],
  ...[agent, x11, otherSubsystem, mosh, git, oneTooMany],
];
