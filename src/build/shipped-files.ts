/** The files of the source that a package has besides the program: documents, the files that they install, and the Ansible collection. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PROJECT } from "./packages.ts";

/** Laid out as in the source, so that `docs/…` and `deploy/…` in documents and messages are found below it. */
export const DOCUMENTS_DIRECTORY = "/usr/share/doc/uam";
export const COLLECTION_DIRECTORY = "/usr/share/uam/ansible";

const DOCUMENTS = ["README.md", "SECURITY.md"];
const COLLECTION = "deploy/ansible";
const DIRECTORIES = ["docs", "deploy/systemd", "deploy/compose", "deploy/prometheus", "deploy/grafana"];
/** For a browser, and as large as all texts together. */
const PICTURES = /\.(webp|png|svg)$/;

/** By path without the leading slash, in a fixed order. */
export function shippedFiles(): ReadonlyMap<string, Uint8Array> {
  const documents = [...DOCUMENTS, ...DIRECTORIES.flatMap(filesIn)].filter((path) => !PICTURES.test(path));
  const collection = filesIn(COLLECTION);
  return new Map([
    ...documents.map((path) => [join(DOCUMENTS_DIRECTORY, path).slice(1), read(path)] as const),
    ...collection.map((path) => [path.replace(COLLECTION, COLLECTION_DIRECTORY.slice(1)), read(path)] as const),
  ]);
}

function filesIn(directory: string): readonly string[] {
  return readdirSync(join(PROJECT, directory), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes("__pycache__"))
    .map((entry) => join(entry.parentPath, entry.name).slice(PROJECT.length + 1))
    .sort();
}

function read(path: string): Uint8Array {
  return readFileSync(join(PROJECT, path));
}
