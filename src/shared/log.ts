/** What the rest of the program needs of a logger. Fields must not hold secrets. */

export type LogLevel = "debug" | "info" | "warn" | "error";

export type LogFields = Readonly<Record<string, unknown>>;

export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** Runs `work`; all that is logged meanwhile on its behalf, by whatever part of the program, has these fields too. */
  within<T>(fields: LogFields, work: () => T): T;
}

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {}, within: (_, work) => work() };
