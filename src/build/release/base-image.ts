/** The image's base: the few packages of Debian that the program and PostgreSQL need, unpacked and not installed. */

import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { archivesWith, fromFirst, openApt } from "../postgres/apt.ts";
import { DEBIAN } from "../postgres/pinned.ts";
import { must } from "../programs.ts";
import type { DebianPackage } from "./provenance.ts";
import { checksumOf } from "./signing.ts";

const RELEASE = "bookworm";
/** libc-bin has the locale C.UTF-8; initdb runs the server by dash; bash is the shell of accounts that are planned. */
const PACKAGES = ["base-files", "bash", "dash", "libc-bin", "libc6", "libgcc-s1", "libstdc++6", "libtinfo6"];
/** Files that nobody reads in a container. Licences stay. */
const LEFT_OUT = [
  "./usr/share/locale",
  "./usr/share/man",
  "./usr/share/lintian",
  "./usr/share/menu",
  "./usr/share/gdb",
];
/** Directories at the top that are links to the same below usr. */
const MERGED = ["bin", "lib", "lib64", "sbin"];
/** The account of the image's program; by number, because Kubernetes cannot tell from a name that it is not root. */
export const UID = 990;

const FILES: Readonly<Record<string, string>> = {
  "etc/passwd": `root:x:0:0:root:/root:/usr/sbin/nologin\nuam:x:${UID}:${UID}::/var/lib/uam:/usr/sbin/nologin\n`,
  "etc/group": `root:x:0:\nuam:x:${UID}:\n`,
  "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
};

/**
 * Makes the tree in `root`, for an architecture by Debian's name, of the newest packages with their security updates; returns which they
 * are. Throws `CannotFetch` if no archive has them.
 */
export async function makeBase(root: string, architecture: string): Promise<readonly DebianPackage[]> {
  const work = mkdtempSync(`${root}-`);
  try {
    const files = await fromFirst("Debian's packages for the image", archivesWith([DEBIAN]), async (archive) => {
      const directory = mkdtempSync(join(work, "apt-"));
      const security = `${archive}-security`;
      const suites = [
        ["deb", RELEASE],
        ["deb", `${RELEASE}-updates`],
        ["deb", `${RELEASE}-security`, security],
      ] as const;
      const apt = await openApt(directory, archive, suites, architecture);
      const fetched = join(directory, "packages");
      mkdirSync(fetched);
      await apt.get(["download", ...PACKAGES], fetched);
      return readdirSync(fetched)
        .sort()
        .map((name) => join(fetched, name));
    });
    for (const name of MERGED) {
      mkdirSync(join(root, "usr", name), { recursive: true });
      symlinkSync(`usr/${name}`, join(root, name));
    }
    return await Promise.all(files.map((file) => unpacked(file, root)));
  } finally {
    rmSync(work, { recursive: true, force: true });
    for (const [path, content] of Object.entries(FILES)) {
      mkdirSync(join(root, "etc"), { recursive: true });
      writeFileSync(join(root, path), content);
      chmodSync(join(root, path), 0o644);
    }
  }
}

async function unpacked(file: string, root: string): Promise<DebianPackage> {
  const out = LEFT_OUT.map((path) => `--exclude=${path}`);
  const tar = `${file}.tar`;
  must(["sh", "-c", 'dpkg-deb --fsys-tarfile "$1" > "$2"', "sh", file, tar]);
  must(["tar", "-x", "--keep-directory-symlink", "--no-same-owner", "-p", ...out, "-C", root, "-f", tar]);
  const fields = must(["dpkg-deb", "--field", file]);
  const fieldOf = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(fields)?.[1] ?? "";
  const name = fieldOf("Package");
  // Where scanners look for the packages of an image that has no dpkg.
  const status = join(root, "var/lib/dpkg/status.d");
  mkdirSync(status, { recursive: true });
  writeFileSync(join(status, name), `${fields.trimEnd()}\nStatus: install ok unpacked\n`);
  return { name, version: fieldOf("Version"), architecture: fieldOf("Architecture"), sha256: await checksumOf(file) };
}
