/**
 * `bun run deb`: builds the program and a Debian package of it, with completions and manual page. Two packages of one commit
 * are byte-identical if DEBFULLNAME and DEBEMAIL (debchange(1)), which name the maintainer, are the same.
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { gzipSync } from "node:zlib";
import { AGENT_DIRECTORY, REVOKED_KEYS_LINK } from "../agent/paths.ts";
import { describeVariables } from "../config/config.ts";
import {
  AGENT_ENVIRONMENT_FILE,
  AGENT_UNIT_FILE,
  ENVIRONMENT_FILE,
  KEPT_JOBS_DIRECTORY,
  LEASE_TIMER_FILE,
  LIMITS_FILE,
  REVOKED_KEYS_FILE,
  SSHD_DROP_IN,
  SUDOERS_FILE,
  UNIT_FILE,
} from "../install/settings.ts";
import { renderSysusers } from "../install/sysusers.ts";
import { hasControlCharacters } from "../shared/text/text.ts";
import {
  RELEASE_OPTIONS,
  RELEASE_USAGE,
  type ReleaseArguments,
  readRelease,
  runWithArguments,
  UsageError,
} from "./arguments.ts";
import { binaryPath, buildRelease } from "./build.ts";
import { readChangelog, renderDebianEntry } from "./changelog.ts";
import { commandPages } from "./command-pages.ts";
import { changeDate } from "./commit.ts";
import { makePackage, renderCopyright } from "./debian-package.ts";
import { EXAMPLES } from "./examples.ts";
import { renderManual } from "./man.ts";
import { type Architecture, ownArchitecture, PROJECT } from "./packages.ts";
import { must } from "./programs.ts";
import { renderSbom } from "./sbom.ts";
import { COLLECTION_DIRECTORY, DOCUMENTS_DIRECTORY, shippedFiles } from "./shipped-files.ts";

/** What Debian calls them. */
export const DEBIAN_NAMES: Readonly<Record<Architecture, string>> = { x64: "amd64", arm64: "arm64" };
const PROGRAM = "usr/bin/uam";
const EXECUTABLE: ReadonlySet<string> = new Set([PROGRAM, "DEBIAN/postinst", "DEBIAN/prerm", "DEBIAN/postrm"]);
/** Approximate KiB of the files other than the program. */
const OTHER_FILES = 1024;
/** The maintainer of a package that was built without a name; mail to it goes nowhere (RFC 2606). */
const NAME = "Unofficial build of uam";
const ADDRESS = "nobody@example.org";

const FILES: readonly { readonly path: string; readonly meaning: string }[] = [
  { path: ENVIRONMENT_FILE, meaning: "Configuration of the installed service, read by every command." },
  { path: UNIT_FILE, meaning: "The unit, as uam install writes it." },
  { path: SSHD_DROP_IN, meaning: "Which key files sshd reads for the accounts." },
  {
    path: REVOKED_KEYS_FILE,
    meaning: "Keys that sshd refuses to the accounts whatever uam says; the administrator's own.",
  },
  { path: SUDOERS_FILE, meaning: "What the service may run as root in sudo mode." },
  { path: LIMITS_FILE, meaning: "How many processes an account may have." },
  {
    path: "/var/lib/uam",
    meaning: "The service's data: the database, the key of the audit log, and key files in direct mode.",
  },
  {
    path: KEPT_JOBS_DIRECTORY,
    meaning: "Root's copies of jobs that were removed from accounts; each is kept for 30 days.",
  },
  { path: AGENT_ENVIRONMENT_FILE, meaning: "Configuration of the agent, on a host of a service elsewhere." },
  { path: AGENT_UNIT_FILE, meaning: "The agent's unit, as uam agent join writes it." },
  { path: LEASE_TIMER_FILE, meaning: "Shuts the host at the end of its lease, also without the agent." },
  { path: REVOKED_KEYS_LINK, meaning: "There while the lease lives; without it sshd refuses every external account." },
  { path: AGENT_DIRECTORY, meaning: "The agent's key, and what the service last told it." },
  { path: DOCUMENTS_DIRECTORY, meaning: "The package's documents: docs/… and deploy/… in messages are below it." },
  { path: COLLECTION_DIRECTORY, meaning: "The package's Ansible collection." },
];

/** The package's files by path, all but the program, and its control files under DEBIAN. */
export function packageFiles(program: {
  readonly version: string;
  /** Debian's name for it. */
  readonly architecture: string;
  readonly completions: { readonly bash: string; readonly zsh: string };
  /** The size of everything that is installed, in KiB. */
  readonly installedSize: number;
  /** In the format of Debian's changelogs. */
  readonly date: string;
  /** "Name <address>". */
  readonly maintainer: string;
  /** The bill of materials. */
  readonly sbom: string;
}): ReadonlyMap<string, string | Uint8Array> {
  const manual = renderManual({
    version: program.version,
    commands: commandPages(),
    examples: EXAMPLES,
    variables: describeVariables(),
    files: FILES,
  });
  const release = readChangelog().find(({ version }) => version === program.version);
  const changelog = renderDebianEntry(
    release ?? { version: program.version, items: ["Built from source."] },
    `${program.maintainer}  ${program.date}`,
  );
  return new Map<string, string | Uint8Array>([
    ["DEBIAN/control", control(program)],
    ["DEBIAN/postinst", POSTINST],
    ["DEBIAN/prerm", PRERM],
    ["DEBIAN/postrm", POSTRM],
    ["usr/lib/sysusers.d/uam.conf", renderSysusers(undefined)],
    ["usr/share/bash-completion/completions/uam", program.completions.bash],
    ["usr/share/zsh/vendor-completions/_uam", program.completions.zsh],
    ["usr/share/man/man1/uam.1.gz", gzipSync(manual, { level: 9 })],
    ["usr/share/doc/uam/changelog.gz", gzipSync(changelog, { level: 9 })],
    ["usr/share/doc/uam/uam.cdx.json", program.sbom],
    ["usr/share/doc/uam/copyright", renderCopyright(readFileSync(join(PROJECT, "LICENSE"), "utf8"))],
    ["usr/share/lintian/overrides/uam", OVERRIDES],
    ...shippedFiles(),
  ]);
}

/** The maintainer: DEBFULLNAME and DEBEMAIL, which may contain both. Throws if they cannot be written in a control file. */
export function maintainerOf(variables: Readonly<Record<string, string | undefined>> = process.env): string {
  const { DEBFULLNAME: name = NAME, DEBEMAIL: email = ADDRESS } = variables;
  const maintainer = email.includes("<") ? email : `${name} <${email}>`;
  // deb-control(5): one line; a comma would begin another name.
  if (hasControlCharacters(maintainer) || !/^[^<>,]*[^<>,\s] <[^<>\s@,]+@[^<>\s@,]+>$/.test(maintainer)) {
    throw new UsageError(`"${maintainer}" is not "Name <address>"; correct DEBFULLNAME and DEBEMAIL.`);
  }
  return maintainer;
}

interface Control {
  readonly version: string;
  readonly architecture: string;
  readonly installedSize: number;
  readonly maintainer: string;
}

function control({ version, architecture, installedSize, maintainer }: Control): string {
  return `Package: uam
Version: ${version}
Architecture: ${architecture}
Maintainer: ${maintainer}
Installed-Size: ${installedSize}
Depends: libc6 (>= 2.31), libgcc-s1, libstdc++6, passwd, procps, systemd
Recommends: openssh-server, sudo (>= 1.9.10)
Section: admin
Priority: optional
Description: time-limited SSH accounts for external users
 Outsiders such as contractors get an account on this host for a limited
 time, manage their own SSH keys, and lose access when their time is up.
 Administrators create, extend, disable and delete users, and can prove
 afterwards who did what.
 .
 After installation, run "uam install --mode direct" to set up the service.
`;
}

// dpkg looks in /usr/local first, where `uam install` puts a copy if it was run before the package came.
const OWN_PROGRAM = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";

// The package contains the program; `uam install` makes it this host's service, in the mode that the administrator chooses,
// and `uam agent join` makes it the agent of a service elsewhere.
const POSTINST = `#!/bin/sh
set -e
${OWN_PROGRAM}
if [ "$1" = configure ]; then
    systemd-sysusers uam.conf
    if [ -d /run/systemd/system ] && [ -e /etc/systemd/system/uam.service ]; then
        mode=direct
        if grep -q '^User=uam$' /etc/systemd/system/uam.service; then mode=sudo; fi
        uam install --mode "$mode"
        if systemctl --quiet is-active uam.service; then deb-systemd-invoke restart uam.service; fi
    elif [ -d /run/systemd/system ] && [ -e /etc/systemd/system/uam-agent.service ]; then
        uam agent join
    elif [ -z "$2" ]; then
        echo 'uam is unpacked. To set up the service: uam install --mode direct (or sudo)'
        echo 'To make this a host of a service elsewhere: uam agent join LINE'
    fi
fi
`;

const PRERM = `#!/bin/sh
set -e
${OWN_PROGRAM}
if [ "$1" = remove ] && [ -d /run/systemd/system ] && [ -e /etc/systemd/system/uam.service ]; then
    uam uninstall
fi
# Its lease ends by itself, which the timer sees to: it needs no program of this package.
if [ "$1" = remove ] && [ -d /run/systemd/system ] && [ -e /etc/systemd/system/uam-agent.service ]; then
    uam agent leave --keep --yes
fi
`;

// Data and configuration record who did what: they survive even a purge.
const POSTRM = `#!/bin/sh
set -e
if [ "$1" = purge ]; then
    rm -rf /var/cache/uam /var/cache/uam-agent
    echo 'The data of uam is still in /var/lib/uam, its configuration in /etc/uam.'
fi
`;

const OVERRIDES = `# The program is at the end of this binary: strip(1) would remove it.
uam: unstripped-binary-or-object
uam: embedded-library
# This is how Bun links it.
uam: hardening-no-pie
uam: hardening-no-relro
# A collection of Ansible names it.
uam: extra-license-file
# Ansible's modules name it, and each host runs them with its own.
uam: unusual-interpreter
`;

const OPTIONS = { ...RELEASE_OPTIONS, uncompressed: { type: "string" } } as const;

const USAGE = `Usage: bun run deb [--arch ARCH] [--version X] [--npm-postgres] [--uncompressed FILE]

Builds the program and the package dist/uam_VERSION_ARCH.deb. DEBFULLNAME and DEBEMAIL name the maintainer of the package.

${RELEASE_USAGE}
  --uncompressed FILE  for tests: build the package there in a second, from the binary that is already in dist`;

async function main(values: {
  readonly arch?: string;
  readonly version?: string;
  readonly "npm-postgres"?: boolean;
  readonly uncompressed?: string;
}): Promise<void> {
  const release = readRelease(values);
  // It is refused before minutes have passed.
  maintainerOf();
  // The program's own texts are the same on both architectures: the one that runs here prints them.
  if (values.uncompressed === undefined) {
    for (const each of new Set([ownArchitecture(), release.architecture]))
      await buildRelease({ ...release, architecture: each });
  }
  const output = packBinary(release, values.uncompressed);
  console.log(`${output}: ${(Bun.file(output).size / 1e6).toFixed(1)} MB`);
}

/**
 * Makes the package of the binary in dist, next to which the one for this machine has to be; returns its path, dist/uam_VERSION_ARCH.deb
 * or `uncompressed`.
 */
export function packBinary(release: ReleaseArguments, uncompressed?: string): string {
  const { architecture, version } = release;
  const debianName = DEBIAN_NAMES[architecture];
  const say = (...args: readonly string[]) => must([binaryPath(ownArchitecture()), ...args]);
  const binary = binaryPath(architecture);
  const date = changeDate();
  const files = packageFiles({
    version,
    architecture: debianName,
    completions: { bash: say("completion", "bash"), zsh: say("completion", "zsh") },
    installedSize: Math.ceil(Bun.file(binary).size / 1024) + OTHER_FILES,
    date: date.toUTCString().replace("GMT", "+0000"),
    maintainer: maintainerOf(),
    sbom: renderSbom(release),
  });
  const output = uncompressed ?? join(PROJECT, `dist/uam_${version}_${debianName}.deb`);
  const compression = uncompressed === undefined ? ["-Zxz", "-z1"] : ["-Znone"];
  makePackage(output, { files, copies: new Map([[PROGRAM, binary]]), executable: EXECUTABLE, date, compression });
  return output;
}

if (import.meta.main) await runWithArguments({ usage: USAGE, options: OPTIONS }, main);
