/** The fetch handler served by Deno. */

import { join } from "node:path";
import process from "node:process";
import type { Kernel } from "../shared/system/kernel.ts";
import { faultResponse } from "./fault.ts";
import { createKernel, openFirst } from "./kernel.ts";
import type { RunningServer, Runtime, ServeOptions } from "./runtime.ts";
import { removeStaleSocket } from "./stale-socket.ts";
import { readTlsPair } from "./tls.ts";

/** The part of Deno that is used here; its full types would clash with Bun's. */
declare const Deno: {
  readonly version: { readonly deno: string };
  dlopen<Name extends string>(
    path: string,
    symbols: Record<Name, { readonly parameters: readonly string[]; readonly result: string }>,
  ): { readonly symbols: Record<Name, (...values: readonly unknown[]) => number | bigint> };
  serve(options: DenoListen, handler: (request: Request, info: DenoPeer) => Promise<Response>): DenoServer;
};

type DenoAddress = { readonly hostname: string; readonly port: number; readonly cert?: string; readonly key?: string };
type DenoListen = ({ readonly path: string } | DenoAddress) & {
  readonly signal: AbortSignal;
  readonly onListen: () => void;
  readonly onError: (error: unknown) => Response;
};

interface DenoPeer {
  readonly remoteAddr: { readonly transport: string; readonly hostname?: string };
}

interface DenoServer {
  readonly addr: { readonly hostname?: string; readonly port?: number };
  readonly finished: Promise<void>;
  shutdown(): Promise<void>;
}

const main = join(import.meta.dirname ?? "/", "../main.ts");
const program = [process.execPath, "run", "--allow-all", "--no-prompt", main];

/** Serves on Deno; only for programs that run on it. */
export const denoRuntime: Runtime = { name: `deno ${Deno.version.deno}`, pid: process.pid, program, serve, openKernel };

async function serve({ listen, tls, fetch }: ServeOptions): Promise<RunningServer> {
  const cut = new AbortController();
  const common = {
    signal: cut.signal,
    onListen: () => {},
    onError: faultResponse,
  };
  if (listen.kind === "unix") {
    await removeStaleSocket(listen.path);
    const server = Deno.serve({ ...common, path: listen.path }, (request) =>
      fetch(request, undefined, (seconds) => seconds),
    );
    return { address: `unix:${listen.path}`, stop: (milliseconds) => drain(server, cut, milliseconds) };
  }
  const { hostname, port } = listen;
  const pair = tls === undefined ? undefined : readTlsPair(tls);
  const secure = pair === undefined ? {} : { cert: pair.cert, key: pair.key };
  const server = Deno.serve({ ...common, ...secure, hostname, port }, (request, { remoteAddr }) =>
    fetch(request, remoteAddr.hostname, (seconds) => seconds),
  );
  const host = hostname.includes(":") ? `[${hostname}]` : hostname;
  return {
    address: `${pair === undefined ? "http" : "https"}://${host}:${server.addr.port ?? port}`,
    stop: (milliseconds) => drain(server, cut, milliseconds),
  };
}

async function drain(server: DenoServer, cut: AbortController, milliseconds: number): Promise<void> {
  const timer = setTimeout(() => cut.abort(), milliseconds);
  await server.shutdown();
  await server.finished;
  clearTimeout(timer);
}

function openKernel(): Kernel {
  const { symbols } = openFirst((name) =>
    Deno.dlopen(name, {
      syscall: { parameters: ["i64", "i64", "i64", "i64", "i64"], result: "i64" },
      umount2: { parameters: ["buffer", "i32"], result: "i32" },
    }),
  );
  return createKernel({
    syscall: (...numbers) => Number(symbols.syscall(...numbers.map(BigInt))),
    umount: (path, flags) => Number(symbols.umount2(path, flags)),
  });
}
