/** Which PostgreSQL a release carries: the source that it is built from, and the bytes that come out. */

import type { Architecture } from "../packages.ts";

/** Which server: "source" is the one that a release carries; "npm" is an older one, for trials where nothing can be compiled. */
export type PostgresOrigin = "source" | "npm";

/** Debian's source package. When Debian has a newer one, CI says so (behind.ts), and docs/decisions/postgresql.md what to do. */
export const SOURCE = {
  name: "postgresql-18",
  version: "18.6-3",
  /** SHA-256 by name. */
  files: {
    "postgresql-18_18.6-3.dsc": "a4254c4548ebeea683832de193460ee8a9f1271418e884803b44ded1aead1776",
    "postgresql-18_18.6.orig.tar.bz2": "555610c24d53e4316da5b7d3fc25c279d96856d5e0e23ee308c328c5fa881d9f",
    "postgresql-18_18.6-3.debian.tar.xz": "5efd00aa59930757931d13e3b2a343b5ac983fdf646a54a3b96caa30cb40512b",
  },
} as const;

/** The release of Debian that has it: where a new one comes first. */
export const SOURCE_SUITE = "sid";

/** The archive for everybody: where to look if the machine's own has something no longer, or there is none. */
export const DEBIAN = "http://deb.debian.org/debian";

/** The archive of Debian's releases that the usual one has dropped. */
export const OLD_RELEASES = "http://archive.debian.org/debian";

/** All of Debian as it was on a day on which it had the source: the archive for everybody has a suite's newest version only. */
export const SOURCE_DAY = "http://snapshot.debian.org/archive/debian/20261124T000000Z";

/** As PostgreSQL itself says it. */
export const SERVER_VERSION = SOURCE.version.replace(/-[^-]*$/, "");

/** SHA-256 of the tar that compile.sh makes of it, uncompressed. */
export const BUILT: Readonly<Record<Architecture, string>> = {
  x64: "5880980ec0213a4bda7c65622bb4ad83a462d70b09cdb16c00b843cea0003cc5",
  arm64: "5a4bc2b1fb06adb7de4059abf5bcc10996752ea09233d11465a09a1d9cd85873",
};
