/** What clients do, and what each profile allows of it: said once more, by hand, from what profiles promise. */

import type { HostProfile } from "../../../../src/protocol/profile.ts";

/** The profiles of the table's columns, in their order; `directory` is what transfers are confined to, `target` is let. */
export function columns(directory: string, program: string, target: string): readonly HostProfile[] {
  const secondFactor = "none";
  return [
    { name: "all", kind: "shell", forwarding: true, secondFactor },
    { name: "shell", kind: "shell", forwarding: false, maxSessions: 2, secondFactor },
    { name: "to", kind: "shell", forwarding: [target], secondFactor },
    { name: "sftp", kind: "sftp", directory, maxSessions: 2, secondFactor },
    { name: "read", kind: "sftp", directory, readOnly: true, secondFactor },
    { name: "forward", kind: "forward", targets: [target], secondFactor },
    { name: "command", kind: "command", command: program, secondFactor },
  ];
}

/** `y`: happens; `n`: is refused; `-`: is not tried, or either is right. */
export const MATRIX: Readonly<Record<string, string>> = {
  //                                                  all shell to sftp read forward command
  "a shell": "y y y n n n n",
  "a command": "y y y n n n n",
  "a terminal": "y y y n n n n",
  "LD_PRELOAD of the client's": "n n n n n n n",
  "a login without a key": "n n n n n n n",
  "an agent forwarded": "n n n n n n n",
  "X11 forwarded": "y n n n n n n",
  "a subsystem that is not sftp": "n n n n n n n",
  mosh: "y y y n n n n",
  git: "y y y n n n n",
  "one session more than allowed": "- n - n - - -",
  "a connection to a target of the profile (-W)": "- - y - - y -",
  "a connection to anywhere else (-W)": "y n n n n n n",
  "a local forward to anywhere (-L)": "y n n n n n n",
  "a proxy to anywhere (-D)": "y n n n n n n",
  "a hop to another host (-J)": "y n - n n - n",
  "a port on the host (-R)": "y n n n n n n",
  "a proxy on the host (-R alone)": "y n n n n n n",
  "a socket on the host (-R path)": "y n n n n n n",
  "a connection to a socket of the host (-L path)": "y n n n n n n",
  "a network tunnel (-w)": "n n n n n n n",
  "sftp: get a file of their own": "y y y y y n n",
  "sftp: put a file": "y y y y n n n",
  "sftp: rename a file": "y y y y n n n",
  "sftp: symlink": "y y y y n n n",
  "sftp: chmod a file of their own": "y y y y n n n",
  "sftp: remove a file": "y y y y n n n",
  "sftp: mkdir": "y y y y n n n",
  "sftp: chmod the root": "n n n n n n n",
  "sftp: get /etc/passwd": "y y y n n n n",
  "sftp: get /etc/passwd through a link of their own": "y y y n n n n",
  "sftp: put a file into /tmp": "y y y n n n n",
  "scp that speaks sftp: send a file": "y y y y n n n",
  "scp that speaks sftp: fetch a file": "y y y y y n n",
  "the old scp (-O): send a file": "y y y n n n n",
  rsync: "y y y n n n n",
};
