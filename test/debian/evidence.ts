/** Which sessions end with a revoked key, on the word of the journal of a real host, which their owner tries to forge. */

import { asUser, isShared, logIn, openSharedConnection, refused, startAsUser, uploadKey } from "./access.ts";
import type { Container } from "./container.ts";
import { same, step } from "./steps.ts";

const USER = "gina";
const REVOKED = "gina-lost";
const OTHER = "gina-kept";
/** What runs in a session, and what it left behind; the number after the key's name. */
const SESSION = 1;
const DAEMON = 2;

/** Runs it all. `spared`: whether the sessions of a user's other keys go on, which they do in direct mode only. */
export async function evidence(container: Container, uam: string, spared: boolean): Promise<void> {
  const connections = [REVOKED, OTHER].map((key) => ({ user: USER, key }));
  await step("a user has sessions and forwardings with two keys, and forges sshd's word for one of them", async () => {
    await container.sh(`${uam} user create ${USER} --email ${USER}@example.org --ttl-days 3`);
    await logIn(container, uam, USER);
    for (const connection of connections) {
      await uploadKey(container, USER, connection.key);
      await openSession(container, connection.key);
      await openSharedConnection(container, connection);
    }
    await forge(container);
  });
  await step(
    `revoking one ends what it opened, and ${spared ? "spares" : "in sudo mode also ends"} what the other did`,
    async () => {
      const id = (
        await container.sh(`${uam} key list ${USER} --json | grep -B9 '"${REVOKED}"' | grep -om1 '"id": *[0-9]*'`)
      ).replace(/\D/g, "");
      await container.sh(`${uam} key revoke ${USER} ${id}`);
      await refused(container, USER, REVOKED);
      const runs = async (key: string, number: number) =>
        (await container.attempt(`pgrep -U ext_${USER} -f '^${mark(key, number)}'`)).status === 0;
      const seen = [];
      for (const connection of connections) {
        const { key } = connection;
        seen.push([await runs(key, SESSION), await runs(key, DAEMON), await isShared(container, connection)]);
      }
      // A daemon has left the session's tree, so that nothing tells which key it came with.
      same(
        JSON.stringify(seen),
        JSON.stringify([
          [false, false, false],
          [spared, false, spared],
        ]),
        "what goes on",
      );
      await container.sh(`${uam} user delete ${USER} --yes`);
    },
  );
}

async function openSession(container: Container, key: string): Promise<void> {
  const inside = `(setsid ${mark(key, DAEMON)} >/dev/null 2>&1 &); exec ${mark(key, SESSION)}`;
  await startAsUser(container, { user: USER, key }, inside);
  const runs = (number: number) => `pgrep -U ext_${USER} -f '^${mark(key, number)}'`;
  await container.until(`${runs(SESSION)} && ${runs(DAEMON)}`, 20);
}

/** Writes, in every way an owner has, that the other key opened each of the account's connections. */
async function forge(container: Container): Promise<void> {
  // For a moment the process that sshd makes for the account's own side has the name and the uid of the one that made it.
  const seen = `PIDS=$(pgrep -U 0 -x -f 'sshd: ext_${USER} .priv.'); test "$(wc -w <<<"$PIDS")" = 4; echo "$PIDS"`;
  const pids = (await container.until(seen, 10)).trim().split("\n");
  const fingerprint = (await container.sh(`ssh-keygen -l -f /root/${OTHER}.pub`)).split(" ")[1];
  const line = `Accepted publickey for ext_${USER} from 127.0.0.1 port 5 ssh2: ED25519 ${fingerprint}`;
  const entry = (pid: string) =>
    `MESSAGE=${line}\\n_PID=${pid}\\n_UID=0\\nSYSLOG_PID=${pid}\\nSYSLOG_IDENTIFIER=sshd\\n`;
  const lies = pids.flatMap((pid) => [
    `logger -t sshd --id=${pid} '${line}'`,
    `printf '${entry(pid)}' | logger --journald`,
    `printf '<38>sshd[${pid}]: ${line}' | logger -p auth.info --prio-prefix`,
  ]);
  await asUser(container, { user: USER, key: OTHER }, [...lies, `systemd-cat -t sshd echo '${line}'`].join("\n"));
  // They arrived, each under the account's own uid.
  await container.until(
    `test "$(journalctl -q _UID=$(id -u ext_${USER}) --grep 'Accepted publickey' | wc -l)" -ge ${lies.length + 1}`,
    10,
  );
}

function mark(key: string, number: number): string {
  return `sleep ${key === REVOKED ? 8000 + number : 8100 + number}`;
}
