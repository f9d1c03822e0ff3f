/** Debian's libraries for arm64, from its signed archive, in their own directory: this machine's dpkg is not involved. */

import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { must } from "../debian/shell.ts";

/** What Bun, the addons and PostgreSQL are linked with, as in the Debian package's Depends. */
const PACKAGES = ["libc6", "libgcc-s1", "libstdc++6"];

/** Puts them below `directory` and returns the path to mount over /usr/lib. */
export async function arm64Libraries(directory: string): Promise<string> {
  const path = (name: string) => join(directory, name);
  for (const name of ["state/lists/partial", "cache/archives/partial", "packages", "tree/usr/lib"]) {
    mkdirSync(path(name), { recursive: true });
  }
  writeFileSync(path("state/status"), "");
  const options = {
    "APT::Architecture": "arm64",
    "APT::Architectures": "arm64",
    "APT::Sandbox::User": "root",
    "Dir::State": path("state"),
    "Dir::State::status": path("state/status"),
    "Dir::Cache": path("cache"),
  };
  const apt = ["apt-get", "--quiet=2", ...Object.entries(options).map(([name, value]) => `--option=${name}=${value}`)];
  await must([...apt, "update", "--error-on=any"], 60);
  await must(["env", `--chdir=${path("packages")}`, ...apt, "download", ...PACKAGES], 60);
  for (const name of readdirSync(path("packages"))) {
    await must(["dpkg-deb", "--extract", join(path("packages"), name), path("tree")], 30);
  }
  // libc6 still ships files in /lib, which is a link to usr/lib on every host.
  await must(["cp", "--archive", `${path("tree/lib")}/.`, path("tree/usr/lib")], 30);
  return path("tree/usr/lib");
}
