/** Where a release comes from: an in-toto statement (v1) with SLSA's provenance (v1), the same for the same commit and packager. */

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import manifest from "../../../package.json" with { type: "json" };
import { PROJECT } from "../packages.ts";
import { SOURCE } from "../postgres/pinned.ts";

/** A package of Debian's that is in the image. */
export interface DebianPackage {
  readonly name: string;
  readonly version: string;
  /** Debian's name for it. */
  readonly architecture: string;
  readonly sha256: string;
}

export interface Built {
  readonly version: string;
  /** All of the commit's digits. */
  readonly commit: string;
  /** "Name <address>", of whoever built and signs it. */
  readonly maintainer: string;
  /** The SHA-256 of each file of the release, by name. */
  readonly files: ReadonlyMap<string, string>;
  readonly packages: readonly DebianPackage[];
}

/** Files of the checkout that say which packages were taken, with their checksums. */
const LOCKS = ["bun.lock", "src/build/bun/bun.lock"];

/** The text of the statement. */
export function renderProvenance({ version, commit, maintainer, files, packages }: Built): string {
  const address = /<(.*)>$/.exec(maintainer)?.[1] ?? maintainer;
  const statement = {
    _type: "https://in-toto.io/Statement/v1",
    subject: [...files].map(([name, sha256]) => ({ name, digest: { sha256 } })),
    predicateType: "https://slsa.dev/provenance/v1",
    predicate: {
      buildDefinition: {
        buildType: "urn:uam:bun-run-release:v1",
        externalParameters: { version },
        internalParameters: { bun: manifest.engines.bun, command: `bun run release --version ${version}` },
        resolvedDependencies: [
          { name: "source", digest: { gitCommit: commit } },
          ...LOCKS.map((name) => ({ name, digest: { sha256: digestOf(join(PROJECT, name)) } })),
          ...Object.entries(SOURCE.files).map(([name, sha256]) => ({ name, digest: { sha256 } })),
          ...packages.map(({ name, version: its, architecture, sha256 }) => ({
            uri: `pkg:deb/debian/${name}@${encodeURIComponent(its)}?arch=${architecture}`,
            digest: { sha256 },
          })),
        ],
      },
      runDetails: { builder: { id: `mailto:${address}` } },
    },
  };
  return `${JSON.stringify(statement, null, 2)}\n`;
}

function digestOf(path: string): string {
  return createHash("sha256").update(readFileSync(path)).digest("hex");
}
