/** The logger that the rest of the program needs. Fields must not hold secrets. */

export type LogLevel = "debug" | "info" | "warn" | "error";

export type LogFields = Readonly<Record<string, unknown>>;

export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** Runs `work`; all log lines written on its behalf meanwhile, by any part of the program, have these fields too. */
  within<T>(fields: LogFields, work: () => T): T;
}

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {}, within: (_, work) => work() };
