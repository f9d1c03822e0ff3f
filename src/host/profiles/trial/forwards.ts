/** What clients ask to be connected to, through the host or back from it. */

import { chmodSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { ALIAS, runClient, startClient } from "./client.ts";
import { type Deed, forwardsAll, happened, never, type Seen, type Trial, targetsOf } from "./deed.ts";
import { heardFrom, type Listener, listen } from "./listener.ts";

/** What the client says of a channel that sshd opened, or would have if anybody had answered there. */
/** Of a tunnel it says that the connection failed, also where it is not allowed. */
const CONFIRMED = /open confirm/;
const OPENED = /open confirm|open failed: connect failed/;
const PROHIBITED = /open failed: administratively prohibited/;
const TAKEN = /Address already in use|cannot listen to port/;
/** Ports that are tried. */
const PORTS = 5;
const LISTENS = /Local connections to .* forwarded|Local forwarding listening/;

/** Asks with `-W` for a connection to there; whether anybody answers does not matter. */
async function asksFor(trial: Trial, target: string): Promise<Seen> {
  const client = startClient("ssh", ["-F", trial.config, "-vv", "-W", target, ALIAS], { stays: true });
  await client.until(OPENED, PROHIBITED);
  client.stop();
  return happened(OPENED.test(client.said().stderr));
}

const toTarget: Deed = {
  name: "a connection to a target of the profile (-W)",
  may: (profile) => targetsOf(profile).length > 0,
  tries: async (trial) => {
    const [target] = targetsOf(trial.profile);
    return target === undefined ? { untried: "the profile names no target" } : asksFor(trial, target);
  },
};

const elsewhere: Deed = {
  name: "a connection to anywhere else (-W)",
  may: forwardsAll,
  tries: async (trial) => {
    const here = await listen();
    const seen = await asksFor(trial, `127.0.0.1:${here.port}`);
    here.close();
    return seen;
  },
};

/** Runs a client that forwards to a listener of ours, and knocks at its own end. */
async function knocks(
  trial: Trial,
  here: Listener,
  { forward, sent = [] }: { readonly forward: (own: number) => string[]; readonly sent?: readonly Uint8Array[] },
): Promise<Seen> {
  const heard = await heardThrough(trial, forward, sent);
  here.close();
  return happened(heard.includes(here.greeting));
}

/** What comes back through a port of the client's own; another is tried where somebody else has taken it meanwhile. */
async function heardThrough(
  trial: Trial,
  forward: (own: number) => string[],
  sent: readonly Uint8Array[],
): Promise<string> {
  for (let attempt = 0; ; attempt++) {
    const own = await freePort();
    const client = startClient("ssh", ["-F", trial.config, "-vv", "-N", ...forward(own), ALIAS], { stays: true });
    await client.until(LISTENS);
    // It listens once the line is said, or a moment later.
    await client.until(/Entering interactive session|pledge/, TAKEN);
    const isTaken = TAKEN.test(client.said().stderr);
    const heard = isTaken ? "" : await heardFrom(own, ...sent);
    client.stop();
    if (!isTaken || attempt === PORTS) return heard;
  }
}

async function freePort(): Promise<number> {
  const taken = await listen();
  taken.close();
  return taken.port;
}

const local: Deed = {
  name: "a local forward to anywhere (-L)",
  may: forwardsAll,
  tries: async (trial) => {
    const here = await listen();
    return await knocks(trial, here, { forward: (own) => ["-L", `127.0.0.1:${own}:127.0.0.1:${here.port}`] });
  },
};

const dynamic: Deed = {
  name: "a proxy to anywhere (-D)",
  may: forwardsAll,
  tries: async (trial) => {
    const here = await listen();
    const request = Uint8Array.from([5, 1, 0, 1, 127, 0, 0, 1, here.port >> 8, here.port & 255]);
    const sent = [Uint8Array.from([5, 1, 0]), request];
    return await knocks(trial, here, { forward: (own) => ["-D", `127.0.0.1:${own}`], sent });
  },
};

const hop: Deed = {
  name: "a hop to another host (-J)",
  may: (profile) => (targetsOf(profile).length > 0 ? undefined : forwardsAll(profile)),
  tries: async ({ config }) => {
    const { stderr } = await runClient("ssh", ["-F", config, "-v", "-J", ALIAS, `${ALIAS}-again`, "true"]);
    return happened(/Remote protocol version/.test(stderr) && !/stdio forwarding failed/.test(stderr));
  },
};

/** What comes back from the host: one port, or a socket, that sshd would listen on. */
const back = (name: string, forward: (trial: Trial, port: number) => string): Deed => ({
  name,
  may: forwardsAll,
  tries: async (trial) => {
    const here = await listen();
    const options = ["-vv", "-N", "-o", "ExitOnForwardFailure=yes", "-R", forward(trial, here.port)];
    const client = startClient("ssh", ["-F", trial.config, ...options, ALIAS], { stays: true });
    await client.until(/remote forward success|Allocated port|remote forward(ing)? fail|forwarding failed/i);
    client.stop();
    here.close();
    return happened(/remote forward success|Allocated port/i.test(client.said().stderr));
  },
});

const remote = back("a port on the host (-R)", (_, port) => `0:127.0.0.1:${port}`);
const remoteProxy = back("a proxy on the host (-R alone)", () => "0");
const remoteSocket: Deed = {
  name: "a socket on the host (-R path)",
  may: forwardsAll,
  tries: async (trial) => {
    const path = `/tmp/${basename(trial.door.directory)}-socket`;
    const seen = await back("", (_, port) => `${path}:127.0.0.1:${port}`).tries(trial);
    // sshd leaves it behind.
    rmSync(path, { force: true });
    return seen;
  },
};

const localSocket: Deed = {
  name: "a connection to a socket of the host (-L path)",
  may: forwardsAll,
  tries: async (trial) => {
    const path = join(trial.door.directory, "socket");
    const here = await listen(path);
    chmodSync(path, 0o666);
    return await knocks(trial, here, { forward: (own) => ["-L", `127.0.0.1:${own}:${path}`] });
  },
};

const tunnel: Deed = {
  name: "a network tunnel (-w)",
  may: never,
  tries: async ({ config }) => {
    const client = startClient("ssh", ["-F", config, "-vv", "-N", "-w", "any:any", ALIAS], { stays: true });
    await client.until(OPENED, PROHIBITED, /[Tt]unnel device open failed|Tunnel forwarding failed|open failed/);
    client.stop();
    const { stderr } = client.said();
    if (/device open failed|sys_tun_open: fail/i.test(stderr) && !PROHIBITED.test(stderr))
      return { untried: "this machine makes no tunnel devices" };
    return happened(CONFIRMED.test(stderr));
  },
};

export const FORWARDS: readonly Deed[] = [
  ...[toTarget, elsewhere, local, dynamic, hop],
  ...[remote, remoteProxy, remoteSocket, localSocket, tunnel],
];
