/** Images, built by buildah in their own storage: this machine's other images are neither used nor changed. */

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { ENCLOSED, must } from "../debian/shell.ts";

/** A part of Docker's image configuration: an engine's defaults for an image. */
export interface ImageConfig {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly Volumes: Readonly<Record<string, object>>;
  readonly ExposedPorts: Readonly<Record<string, object>>;
  readonly StopSignal: string;
  /** Absent from an image in OCI's format. */
  readonly Healthcheck?: { readonly Test: readonly string[]; readonly Interval: number; readonly StartPeriod: number };
}

export interface Storage {
  /** Makes an image of a tree of files, after `change` has modified a copy of it. */
  makeImage(name: string, tree: string, change: (root: string) => Promise<void>): Promise<void>;
  /** Builds with the Containerfile of a checkout; the base images must be present. `volume` is a directory of this machine and where it is seen. */
  build(checkout: string, name: string, volume: string): Promise<void>;
  configOf(name: string): Promise<ImageConfig>;
  /** The path of a copy of the image's files, for the caller to run. */
  unpack(name: string): Promise<string>;
}

const PATIENCE = 60;
/** Seconds; most of a build is waiting for packages, and packing PostgreSQL. */
const BUILD_PATIENCE = 480;

/** A storage that is entirely below the directory: no mounts, no processes. */
export function openStorage(directory: string): Storage {
  const temporary = join(directory, "temporary");
  mkdirSync(temporary, { recursive: true });
  const buildah = [
    ...ENCLOSED,
    ...["env", `TMPDIR=${temporary}`, "buildah", "--storage-driver=vfs"],
    ...[`--root=${join(directory, "root")}`, `--runroot=${join(directory, "run")}`],
  ];
  const say = async (argv: readonly string[], seconds = PATIENCE) =>
    (await must([...buildah, ...argv], seconds)).trim();
  const unpack = async (image: string) => {
    const container = await say(["from", "--pull=never", image]);
    // Without overlaid layers, this is the path of a directory.
    return { container, root: await say(["mount", container]) };
  };
  return {
    async makeImage(name, tree, change) {
      const { container, root } = await unpack("scratch");
      await must(["cp", "--archive", "--reflink=auto", `${tree}/.`, root], PATIENCE);
      await change(root);
      await say(["commit", "--quiet", "--rm", container, name]);
    },
    async build(checkout, name, volume) {
      const how = ["--isolation=chroot", "--pull=never", "--format=docker", `--volume=${volume}`, `--tag=${name}`];
      await say(["build", ...how, checkout], BUILD_PATIENCE);
    },
    async configOf(name) {
      const image = JSON.parse(await say(["inspect", "--type=image", name]));
      return image.Docker.config;
    },
    unpack: async (name) => (await unpack(name)).root,
  };
}
