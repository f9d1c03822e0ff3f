/** The image of a release, out of its file, as an engine would read it for this machine. */

import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { must } from "../debian/shell.ts";
import type { ImageConfig } from "./buildah.ts";
import type { Image } from "./engine.ts";

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: "amd64", arm64: "arm64" };

interface Descriptor {
  readonly digest: string;
  readonly size: number;
  readonly platform?: { readonly architecture: string };
}

/** Unpacks it below `directory`. Throws if a part is not what its digest says. */
export async function openArchive(file: string, directory: string): Promise<Image> {
  const [layout, root] = [join(directory, "layout"), join(directory, "root")];
  for (const each of [layout, root]) mkdirSync(each, { recursive: true });
  await must(["tar", "-x", "-C", layout, "-f", file], 60);
  const pathOf = ({ digest, size }: Descriptor) => {
    const path = join(layout, "blobs/sha256", digest.replace(/^sha256:/, ""));
    const bytes = readFileSync(path);
    const sum = createHash("sha256").update(bytes).digest("hex");
    if (`sha256:${sum}` !== digest || bytes.length !== size) throw new Error(`${path} is not ${digest}`);
    return path;
  };
  const read = (descriptor: Descriptor) => JSON.parse(readFileSync(pathOf(descriptor), "utf8"));
  const [both] = JSON.parse(readFileSync(join(layout, "index.json"), "utf8")).manifests;
  const manifests: readonly Descriptor[] = read(both).manifests;
  const own = manifests.find(({ platform }) => platform?.architecture === ARCHITECTURES[process.arch]);
  if (manifests.length !== 2 || own === undefined) throw new Error(`${file} is not for both architectures`);
  const manifest = read(own);
  const { config }: { readonly config: ImageConfig } = read(manifest.config);
  for (const layer of manifest.layers) {
    await must(["tar", "-x", "-z", "-p", "--numeric-owner", "-C", root, "-f", pathOf(layer)], 60);
  }
  // An engine makes what it mounts on, and sets the variables itself; that of these tests has this program do it.
  mkdirSync(join(root, "mnt"), { recursive: true });
  copyFileSync("/usr/bin/env", join(root, "usr/bin/env"));
  return { root, config: { ...config, Entrypoint: config.Entrypoint ?? [] } };
}
