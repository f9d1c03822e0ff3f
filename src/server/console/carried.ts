/** The console that the binary carries: the build puts it in the place of this module. */

/** One script or style sheet. */
export interface ConsoleFile {
  readonly type: string;
  /** Compressed with brotli, as base64; the service makes other encodings of it. */
  readonly br: string;
}

/** The files of the console. */
export interface ConsoleBundle {
  /** The HTML document of every page. */
  readonly page: string;
  /** By the names below the root of the assets. */
  readonly files: Readonly<Record<string, ConsoleFile>>;
}

/** From source there is none. */
export const carriedConsole: ConsoleBundle | undefined = undefined;
