/** Records as syslog messages (RFC 5424) over TCP with octet counting (RFC 6587), or over TLS (RFC 5425). */

import { readFileSync } from "node:fs";
import { connect as connectPlainly, isIP, type Socket } from "node:net";
import { hostname } from "node:os";
import { connect as connectSecurely } from "node:tls";
import { printableJson } from "../../shared/text/text.ts";
import { SECOND } from "../../shared/time/clock.ts";
import type { AuditRow } from "../../store/schema-audit.ts";
import { auditRecord } from "../audit-records.ts";
import { type Sink, SinkError } from "./stream.ts";

/** "log audit" (RFC 5424, 6.2.1). */
const FACILITY = 13;
const SEVERITY = { success: 6, failed: 4 } as const;
const CONNECT_TIMEOUT = 10 * SECOND;
/** A receiver that takes nothing for this long is as good as gone. */
const WRITE_TIMEOUT = 30 * SECOND;
/**
 * Syslog has no acknowledgements: what was written counts as received once the connection has outlived it by this much. A
 * receiver that ends meanwhile is sent it again.
 */
const SETTLING = 3 * SECOND;
const KEEPALIVE = 15 * SECOND;

export interface SyslogAddress {
  readonly tls: boolean;
  readonly host: string;
  readonly port: number;
  /** A file with the certificates that the receiver is verified by, PEM; undefined: the public ones. */
  readonly ca: string | undefined;
}

interface Connection {
  readonly socket: Socket;
  /** Why the connection can no longer be used. */
  failure: string | undefined;
}

/** A sink that connects when there is something to write, and stays connected. */
export function createSyslogSink(address: SyslogAddress, settling = SETTLING): Sink {
  let open: Connection | undefined;
  /** Records written but not yet settled, with the time of writing. */
  let fresh: { readonly id: number; readonly at: number }[] = [];
  let last: number | undefined;
  const where = `${address.host}:${address.port}`;

  async function connection(): Promise<Connection> {
    if (open !== undefined) return open;
    const socket = await connect(address, where);
    const made: Connection = { socket, failure: undefined };
    socket.setKeepAlive(true, KEEPALIVE);
    const fail = (reason: string) => () => {
      made.failure ??= reason;
    };
    socket.on("error", fail(`The connection to ${where} broke`));
    socket.on("end", fail(`${where} closed the connection`));
    socket.on("close", fail(`The connection to ${where} is closed`));
    // A receiver should send nothing; if it does, that must not fill memory.
    socket.resume();
    open = made;
    return made;
  }

  return {
    async write(records) {
      const { socket } = await connection();
      requireOpen();
      await new Promise<void>((resolve, reject) => {
        const settle = (reason?: string) => {
          clearTimeout(timer);
          socket.off("close", broke);
          if (reason === undefined) resolve();
          else reject(new SinkError(reason));
        };
        const broke = () => settle(open?.failure ?? `The connection to ${where} broke`);
        const timer = setTimeout(
          () => settle(`${where} has taken nothing for ${WRITE_TIMEOUT / SECOND} seconds`),
          WRITE_TIMEOUT,
        );
        socket.once("close", broke);
        socket.write(records.map(syslogFrame).join(""), (error) =>
          settle(error == null ? undefined : `The connection to ${where} broke`),
        );
      });
      const id = records.at(-1)?.id;
      if (id !== undefined) fresh.push({ id, at: performance.now() });
    },
    settled() {
      requireOpen();
      const until = performance.now() - settling;
      while (fresh[0] !== undefined && fresh[0].at <= until) last = fresh.shift()?.id;
      return last;
    },
    reopen() {},
    async close() {
      open?.socket.destroy();
      open = undefined;
      [fresh, last] = [[], undefined];
    },
  };

  function requireOpen(): void {
    if (open?.failure !== undefined) throw new SinkError(open.failure);
  }
}

/** The message with its length in front. */
export function syslogFrame(row: AuditRow): string {
  const text = syslogMessage(row);
  return `${Buffer.byteLength(text)} ${text}`;
}

/** PRI VERSION TIMESTAMP HOSTNAME APP-NAME PROCID MSGID STRUCTURED-DATA MSG, and MSG is the record as JSON. */
function syslogMessage(row: AuditRow): string {
  const priority = FACILITY * 8 + SEVERITY[row.result];
  const name =
    hostname()
      .replace(/[^!-~]/g, "")
      .slice(0, 255) || "-";
  return `<${priority}>1 ${row.createdAt.toISOString()} ${name} uam - ${row.action.slice(0, 32)} - ${printableJson(auditRecord(row))}`;
}

function connect({ tls, host, port, ca }: SyslogAddress, where: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const name = isIP(host) === 0 ? { servername: host } : {};
    const socket: Socket = tls
      ? connectSecurely({ host, port, ...name, ...(ca === undefined ? {} : { ca: readCertificates(ca) }) })
      : connectPlainly({ host, port });
    const timer = setTimeout(() => fail(new SinkError(`${where} does not answer`)), CONNECT_TIMEOUT);
    const fail = (error: Error) => {
      clearTimeout(timer);
      socket.destroy();
      reject(
        error instanceof SinkError ? error : new SinkError(`There is no connection to ${where}: ${reasonOf(error)}`),
      );
    };
    socket.once("error", fail);
    socket.once("close", () => fail(new SinkError(`${where} closed the connection`)));
    socket.once(tls ? "secureConnect" : "connect", () => {
      clearTimeout(timer);
      socket.off("error", fail);
      resolve(socket);
    });
  });
}

function readCertificates(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new SinkError(`UAM_AUDIT_STREAM_CA names a file that cannot be read: ${path} (${reasonOf(error)})`);
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  return "code" in error && typeof error.code === "string" ? error.code : error.message;
}
