/** The commands of the README's "Install on a host" and of docs/install.md, and what that promises of the unit. */

import { commandsUnder, documentText } from "../support/documents.ts";

const SECTION = "Install on a host";
const MOST = 6;
const MOST_FROM_REPOSITORY = 5;
/** What a test cannot do as it stands: the administrator's editor, and a program in the current directory. */
const EDITOR = "editor /etc/uam/uam.env";
export const EDIT = "sed -i 's|^#UAM_BASE_URL=.*|UAM_BASE_URL=http://127.0.0.1:8080|' /etc/uam/uam.env";
const PROGRAM = "./uam ";

/** The commands in order, for a program at `path`. Throws if there are more than six, or none to edit or to install. */
export function installCommands(path: string): readonly string[] {
  const commands = commandsUnder("README.md", SECTION);
  if (commands.length > MOST) throw new Error(`"${SECTION}" has ${commands.length} commands, ${MOST} are the most`);
  if (!commands.includes(EDITOR) || !commands.some((line) => line.startsWith(PROGRAM))) {
    throw new Error(`"${SECTION}" of the README does not run ${PROGRAM.trim()} or ${EDITOR}: ${commands.join("; ")}`);
  }
  return commands.map((line) => (line === EDITOR ? EDIT : line.replace(PROGRAM, `${path} `)));
}

/** The commands of docs/install.md for the Debian package that is at `path`. */
export function packageCommands(path: string): readonly string[] {
  return commandsUnder("docs/install.md", "From a Debian package").map((line) =>
    line.replace(/\buam_\S+_amd64\.deb\b/, path),
  );
}

/** Containers share the kernel's count of processes by uid: where it is filled up, the accounts of others must have other uids. */
const OWN_UIDS = "echo UAM_UID_RANGE=70000-79999 >>/etc/uam/uam.env";

/** The commands of docs/install.md for an apt repository that is at `url`: as they are in direct mode, or in sudo mode with uids of its own. */
export function repositoryCommands(url: string, mode: "direct" | "sudo"): readonly string[] {
  const commands = commandsUnder("docs/install.md", "From an apt repository");
  if (commands.length > MOST_FROM_REPOSITORY) throw new Error(`${commands.length} commands: ${commands.join("; ")}`);
  const here = commands.map((line) => line.replace("https://apt.example.org/uam", url));
  if (mode === "direct") return here;
  return here.map((line) => line.replace("--mode direct &&", `--mode sudo && ${OWN_UIDS} &&`));
}

/** The figure that the README gives for `systemd-analyze security uam` in that mode. */
export function promisedRating(mode: "direct" | "sudo"): string {
  const promise = /`systemd-analyze security uam` rates direct mode ([\d.]+), sudo mode ([\d.]+)/.exec(
    documentText("docs/install.md"),
  );
  const figure = promise?.[mode === "direct" ? 1 : 2];
  if (figure === undefined) throw new Error("docs/install.md does not say how systemd-analyze rates the unit");
  return figure;
}
