/**
 * Several nodes of one database, of which one takes changes: finds that one, and sends every connection to it. The driver
 * can look for it too, but never stops trying if there is none, and does not notice a node that fell silent.
 */

import { connect, type Socket } from "node:net";
import { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { choosesNode, type DatabaseUrl, type Node, parseDatabaseUrl } from "../../shared/net/database-url.ts";
import type { NodeFinder } from "../client.ts";
import { type Look, lookAt } from "./node-look.ts";

/** The nodes of a URL. */
export interface Nodes extends NodeFinder {
  /** Ends the watch; sockets stay as they are. */
  readonly close: () => void;
}

/** Times in milliseconds. */
export interface Patience {
  /** How long to search for a node that takes changes: a promotion takes as long. */
  readonly search: number;
  /** Between two looks at all nodes. */
  readonly pause: number;
  /** How long one node may take to answer. */
  readonly answer: number;
  /** How often the node in use is asked whether it still takes changes. */
  readonly watch: number;
}

const PATIENCE: Patience = { search: 10_000, pause: 200, answer: 3000, watch: 2000 };
/**
 * How long to wait for the others once one node has answered: of two that take changes, the one that was promoted last counts.
 */
const GRACE = 100;

/** Nothing is connected before the first call; the watch runs only while there are sockets. */
export function openNodes(text: string, patience: Patience = PATIENCE): Nodes {
  const url = requireUrl(text);
  const sockets = new Map<Socket, Node>();
  let watching: NodeJS.Timeout | undefined;
  let isClosed = false;
  const leader = keepLeader(() => search(url, patience, () => isClosed));

  async function connectToLeader(): Promise<Socket> {
    // An earlier result may be outdated: then the search is repeated.
    for (let attempt = 1; ; attempt++) {
      const wasKnown = leader.isKnown();
      const found = leader.find();
      try {
        const { node } = await found;
        const socket = await dial(node, patience.answer);
        sockets.set(socket, node);
        socket.once("close", () => sockets.delete(socket));
        watch();
        return socket;
      } catch (error) {
        leader.forget(found);
        if (!wasKnown || attempt === 3 || isClosed) return failing(error);
      }
    }
  }

  function watch(): void {
    if (watching !== undefined || isClosed) return;
    watching = setTimeout(async () => {
      await look().catch(() => {});
      watching = undefined;
      if (sockets.size > 0) watch();
      else leader.forget(leader.current());
    }, patience.watch);
    watching.unref();
  }

  /**
   * A node that was cut off says nothing, and TCP waits a quarter of an hour for it; one that became a standby still
   * answers. So connections to any node but the leader are cut here, and requests that wait on them fail.
   */
  async function look(): Promise<void> {
    const found = leader.current();
    const before = await found?.catch(() => undefined);
    if (before !== undefined && (await before.again())) return;
    leader.forget(found);
    const { node } = await leader.find().catch(() => ({ node: undefined }));
    for (const [socket, to] of sockets) if (to !== node) setImmediate(() => socket.destroy());
  }

  return {
    named: url.nodes,
    leaderUrl: async () => {
      const found = leader.find();
      const { node } = await found;
      // Nobody watches it.
      if (sockets.size === 0) leader.forget(found);
      return url.at(node);
    },
    connect: connectToLeader,
    close: () => {
      isClosed = true;
      clearTimeout(watching);
      leader.forget(leader.current());
    },
  };
}

interface Leader {
  /** One search at a time for all callers; its result stays until it is forgotten. */
  find(): Promise<Look>;
  /** Drops that result, if it still is the one that is kept. */
  forget(found: Promise<Look> | undefined): void;
  /** The search under way, or its result. */
  current(): Promise<Look> | undefined;
  /** Whether a search has found it. */
  isKnown(): boolean;
}

function keepLeader(search: () => Promise<Look>): Leader {
  let kept: Promise<Look> | undefined;
  let known = false;
  function forget(found: Promise<Look> | undefined): void {
    if (kept !== found) return;
    kept = undefined;
    known = false;
    found?.then(({ end }) => end()).catch(() => {});
  }
  function find(): Promise<Look> {
    if (kept !== undefined) return kept;
    const searching = search();
    kept = searching;
    searching.then(
      () => {
        known = kept === searching;
      },
      () => forget(searching),
    );
    return searching;
  }
  return { find, forget, current: () => kept, isKnown: () => known };
}

/** How to connect to the URL: with its nodes, if it names several or asks for the one that takes changes. */
export function openUrl(url: string): { readonly url: string; readonly nodes?: Nodes } {
  return choosesNode(requireUrl(url)) ? { url, nodes: openNodes(url) } : { url };
}

/** Looks at all nodes, repeatedly, until one takes changes. */
async function search(url: DatabaseUrl, patience: Patience, isClosed: () => boolean): Promise<Look> {
  const found: Look[] = [];
  const said = new Map<Node, string>();
  const first = Promise.withResolvers<void>();
  let isOver = false;
  const looking = url.nodes.map(async (node) => {
    while (!isOver && !isClosed()) {
      const glance = await lookAt(url, node, patience.answer);
      if (glance.refusal === undefined) {
        found.push(glance);
        return first.resolve();
      }
      said.set(node, glance.refusal);
      await sleep(patience.pause);
    }
  });
  const all = Promise.all(looking);
  await Promise.race([first.promise, sleep(patience.search, undefined, { ref: false }), all]);
  if (found.length > 0) await Promise.race([all, sleep(GRACE)]);
  isOver = true;
  const chosen = found.toSorted((a, b) => b.timeline - a.timeline)[0];
  // Also of one that answers only now.
  void all.then(() => {
    for (const look of found) if (look !== chosen) look.end();
  });
  if (chosen !== undefined) return chosen;
  const each = url.nodes.map((node) => `${node.host}:${node.port} ${said.get(node) ?? "does not answer"}`);
  throw noLeader(`no node of the database takes changes (${each.join("; ")})`);
}

function dial({ host, port }: Node, patience: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, host);
    const timer = setTimeout(() => socket.destroy(noLeader(`${host}:${port} does not answer`)), patience);
    socket.once("error", (error) => {
      clearTimeout(timer);
      reject(error);
    });
    socket.once("connect", () => {
      clearTimeout(timer);
      socket.removeAllListeners("error");
      // For the driver: its TLS checks the name.
      resolve(Object.assign(socket, { host, port }));
    });
  });
}

/**
 * A stream that fails as a socket does, once the driver has written to it. The driver collects writes until the next
 * setImmediate(); if the socket is closed before that, writes to the next socket are never sent.
 */
function failing(error: unknown): Socket {
  const stream = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() });
  setTimeout(() => stream.destroy(error instanceof Error ? error : new Error(String(error))), FLUSHED);
  return stream as Socket;
}

/** Milliseconds; see failing(). */
const FLUSHED = 5;

/** The error by which the driver reports that there is no connection. */
function noLeader(message: string): Error {
  return Object.assign(new Error(message), { code: "CONNECTION_REFUSED" });
}

function requireUrl(text: string): DatabaseUrl {
  const url = parseDatabaseUrl(text);
  if (url === undefined) throw new Error("the URL of the database was not checked");
  return url;
}
