/** Socket files that a crash left behind. */

import { rmSync } from "node:fs";
import { connect } from "node:net";

/** Removes the socket file unless a server answers on it: no runtime replaces one by itself. */
export async function removeStaleSocket(path: string): Promise<void> {
  const alive = await new Promise<boolean>((resolve) => {
    const socket = connect(path, () => resolve(true));
    socket.on("error", () => resolve(false));
    socket.on("connect", () => socket.end());
  });
  if (!alive) rmSync(path, { force: true });
}
