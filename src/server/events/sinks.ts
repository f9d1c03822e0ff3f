/** The sink that the configuration names. */

import { parseAuditStream } from "../../shared/product/audit-stream.ts";
import { createFileSink } from "./file.ts";
import type { StreamParts } from "./stream.ts";
import { createSyslogSink } from "./syslog.ts";

/** The stream, not yet connected to anything; undefined if none is configured. */
export function openStream(config: {
  readonly auditStream: string | undefined;
  readonly auditStreamCa: string | undefined;
}): StreamParts | undefined {
  const { auditStream: target, auditStreamCa: ca } = config;
  const parsed = target === undefined ? undefined : parseAuditStream(target);
  if (target === undefined || parsed === undefined) return undefined;
  return { target, sink: parsed.kind === "file" ? createFileSink(parsed.path) : createSyslogSink({ ...parsed, ca }) };
}
