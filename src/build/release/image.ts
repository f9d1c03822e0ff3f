/**
 * The image of a release: one file in OCI's layout (image-spec v1.1) for both architectures, made of the binaries in dist, without an
 * engine. The same bytes for the same binaries and packages of Debian.
 */

import { createHash } from "node:crypto";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { binaryPath, sbomPath } from "../build.ts";
import { changeDate } from "../commit.ts";
import { DEBIAN_NAMES } from "../deb.ts";
import type { Architecture } from "../packages.ts";
import { must } from "../programs.ts";
import { makeBase, UID } from "./base-image.ts";
import type { DebianPackage } from "./provenance.ts";

const VOLUME = "var/lib/uam";
const PORT = "8080/tcp";
const SECOND = 1e9;
const TYPES = {
  config: "application/vnd.oci.image.config.v1+json",
  index: "application/vnd.oci.image.index.v1+json",
  layer: "application/vnd.oci.image.layer.v1.tar+gzip",
  manifest: "application/vnd.oci.image.manifest.v1+json",
} as const;

/** As the Containerfile has it. The health check is Docker's addition to OCI's configuration: other engines pass over it. */
const CONFIG = {
  User: `${UID}:${UID}`,
  ExposedPorts: { [PORT]: {} },
  Env: [
    "PATH=/usr/local/bin:/usr/bin:/bin",
    `UAM_DATA_DIR=/${VOLUME}`,
    "UAM_LISTEN=0.0.0.0:8080",
    "UAM_HOST_MODE=dry-run",
    "BUN_JSC_heapGrowthMaxIncrease=1",
  ],
  Cmd: ["uam", "serve"],
  Volumes: { [`/${VOLUME}`]: {} },
  StopSignal: "SIGTERM",
  Healthcheck: {
    Test: ["CMD", "uam", "healthcheck"],
    Interval: 30 * SECOND,
    Timeout: 5 * SECOND,
    StartPeriod: 60 * SECOND,
  },
} as const;

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

/** Writes the image to `output`, which appears whole or not at all; returns the packages of Debian in it. */
export async function makeImage(version: string, output: string): Promise<readonly DebianPackage[]> {
  mkdirSync(dirname(output), { recursive: true });
  const work = mkdtempSync(join(dirname(output), ".image-"));
  try {
    const layout = join(work, "layout");
    const blobs = join(layout, "blobs/sha256");
    mkdirSync(blobs, { recursive: true });
    const store = (mediaType: string, content: Uint8Array | string): Descriptor => {
      const bytes = Buffer.from(content);
      const digest = sha256(bytes);
      writeFileSync(join(blobs, digest), bytes);
      return { mediaType, digest: `sha256:${digest}`, size: bytes.length };
    };
    const manifests: object[] = [];
    const packages: DebianPackage[] = [];
    for (const architecture of ["x64", "arm64"] as const) {
      const base = join(work, `base-${architecture}`);
      mkdirSync(base);
      packages.push(...(await makeBase(base, DEBIAN_NAMES[architecture])));
      mkdirSync(join(base, VOLUME), { recursive: true });
      const layers = [tarOf(base, VOLUME), tarOf(programTree(join(work, `program-${architecture}`), architecture))];
      const about = { version, architecture: DEBIAN_NAMES[architecture] };
      const config = store(TYPES.config, JSON.stringify(configOf(about, layers)));
      const packed = layers.map((tar) => store(TYPES.layer, gzipSync(tar)));
      const manifest = { schemaVersion: 2, mediaType: TYPES.manifest, config, layers: packed };
      const platform = { architecture: about.architecture, os: "linux" };
      manifests.push({ ...store(TYPES.manifest, JSON.stringify(manifest)), platform });
    }
    const both = store(TYPES.index, JSON.stringify({ schemaVersion: 2, mediaType: TYPES.index, manifests }));
    const annotations = {
      "org.opencontainers.image.ref.name": version,
      "io.containerd.image.name": `localhost/uam:${version}`,
    };
    const index = { schemaVersion: 2, mediaType: TYPES.index, manifests: [{ ...both, annotations }] };
    writeFileSync(join(layout, "index.json"), JSON.stringify(index));
    writeFileSync(join(layout, "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }));
    const whole = join(work, "image.tar");
    writeFileSync(whole, tarOf(layout));
    renameSync(whole, output);
    return packages;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** A tree with the program and its bill of materials. */
function programTree(tree: string, architecture: Architecture): string {
  for (const [source, path, mode] of [
    [binaryPath(architecture), "usr/local/bin/uam", 0o755],
    [sbomPath(architecture), "usr/share/doc/uam/uam.cdx.json", 0o644],
  ] as const) {
    mkdirSync(dirname(join(tree, path)), { recursive: true });
    copyFileSync(source, join(tree, path));
    chmodSync(join(tree, path), mode);
  }
  return tree;
}

function configOf(
  about: { readonly version: string; readonly architecture: string },
  layers: readonly Uint8Array[],
): object {
  const created = changeDate().toISOString();
  return {
    created,
    architecture: about.architecture,
    os: "linux",
    config: {
      ...CONFIG,
      Labels: { "org.opencontainers.image.title": "uam", "org.opencontainers.image.version": about.version },
    },
    rootfs: { type: "layers", diff_ids: layers.map((tar) => `sha256:${sha256(tar)}`) },
    history: layers.map(() => ({ created, created_by: "bun run release" })),
  };
}

/** A tree as a tar, in which only contents and modes count; the directory `owned` belongs to the program's account, all else to root. */
function tarOf(tree: string, owned?: string): Uint8Array {
  const file = `${tree}.tar`;
  const as = (id: number) => [`--owner=${id}`, `--group=${id}`, "--numeric-owner", "--sort=name", "--format=gnu"];
  const time = `--mtime=@${changeDate().getTime() / 1000}`;
  const others = owned === undefined ? [] : [`--exclude=./${owned}`];
  must(["tar", ...as(0), time, ...others, "-C", tree, "-cf", file, "."]);
  if (owned !== undefined) must(["tar", ...as(UID), time, "--mode=0711", "-C", tree, "-rf", file, `./${owned}`]);
  return readFileSync(file);
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
