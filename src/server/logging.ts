/** The service's log: one line a record on standard error, as JSON or, on a terminal, as text. */

import { AsyncLocalStorage } from "node:async_hooks";
import {
  configureSync,
  getAnsiColorFormatter,
  getJsonLinesFormatter,
  getLogger,
  type LogRecord,
} from "@logtape/logtape";
import { loggable } from "../shared/errors.ts";
import type { Log, LogFields, LogLevel } from "../shared/log.ts";
import { printableJson } from "../shared/text/text.ts";

export interface LoggingOptions {
  readonly format: "json" | "pretty";
  readonly level: LogLevel;
  /** Prefixes each line with its syslog priority, as journald reads it (sd-daemon(3)). */
  readonly journal: boolean;
  readonly write: (line: string) => void;
}

const PRIORITY = { trace: 7, debug: 7, info: 6, warning: 4, error: 3, fatal: 2 } as const;

/** Opens the log. Whole errors are written, with their causes; control characters in values are escaped. */
export function openLog(options: LoggingOptions): Log {
  const json = getJsonLinesFormatter({ properties: "flatten" });
  const pretty = getAnsiColorFormatter({ timestamp: "time", value: (value: unknown) => JSON.stringify(value) });
  const format = options.format === "json" ? json : (record: LogRecord) => pretty(record).trimEnd() + fieldsOf(record);
  configureSync({
    reset: true,
    sinks: {
      lines: (record) => {
        const prefix = options.journal ? `<${PRIORITY[record.level]}>` : "";
        options.write(`${prefix}${format(record).trimEnd()}\n`);
      },
    },
    loggers: [
      { category: "uam", lowestLevel: options.level === "warn" ? "warning" : options.level, sinks: ["lines"] },
      { category: ["logtape", "meta"], lowestLevel: "error", sinks: ["lines"] },
    ],
  });
  const logger = getLogger("uam");
  // Operations tell the host what to do and know nothing about requests: the fields that a request's records share are added by themselves.
  const common = new AsyncLocalStorage<LogFields>();
  const all = (fields: LogFields | undefined) => plain({ ...common.getStore(), ...fields });
  return {
    debug: (message, fields) => logger.debug(message, () => all(fields)),
    info: (message, fields) => logger.info(message, () => all(fields)),
    warn: (message, fields) => logger.warn(message, () => all(fields)),
    error: (message, fields) => logger.error(message, () => all(fields)),
    within: (fields, work) => common.run({ ...common.getStore(), ...fields }, work),
  };
}

function fieldsOf(record: LogRecord): string {
  const entries = Object.entries(record.properties);
  return entries.length === 0 ? "" : `  ${entries.map(([key, value]) => `${key}=${printableJson(value)}`).join(" ")}`;
}

/** Errors hold what matters in properties that JSON leaves out. */
function plain(fields: LogFields): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [key, value instanceof Error ? describe(value) : value]),
  );
}

function describe(error: Error): Record<string, unknown> {
  const { name, cause } = error;
  return { name, ...loggable(error), ...(cause instanceof Error ? { cause: describe(cause) } : {}) };
}
