/** Which sessions end with a revoked key, by the journal of a real host, which their owner tries to forge. */

import {
  asUser,
  type Connection,
  isShared,
  logIn,
  openSharedConnection,
  refused,
  revokeOwnKey,
  startAsUser,
  uploadKey,
} from "./access.ts";
import type { Container } from "./container.ts";
import { same, step } from "./steps.ts";

/** Who revokes the key: an administrator at the host's shell, or its owner, for whom the service does it in its sandbox. */
export type Revoker = "the shell" | "the service";

/** What runs in a session, and what it left behind; the number after the key's name. */
const SESSION = 1;
const DAEMON = 2;

const JOB = "7 7 7 7 * true";

/** Whose sessions, and the key that is said to have opened them. */
interface Case {
  readonly user: string;
  readonly other: string;
}

/** Runs it all. `spared`: whether the sessions of a user's other keys go on, which they do in direct mode only. */
export async function evidence(
  container: Container,
  uam: string,
  { spared, by }: { readonly spared: boolean; readonly by: Revoker },
): Promise<void> {
  const user = by === "the shell" ? "gina" : "greta";
  const [revoked, other] = [`${user}-lost`, `${user}-kept`];
  const connections = [revoked, other].map((key) => ({ user, key }));
  await step(
    "a user has sessions and forwardings with two keys, and forges sshd's log lines for one of them",
    async () => {
      await container.sh(`${uam} user create ${user} --email ${user}@example.org --ttl-days 3`);
      await logIn(container, uam, user);
      for (const connection of connections) {
        await uploadKey(container, user, connection.key);
        await openSession(container, connection);
        await openSharedConnection(container, connection);
      }
      await forge(container, { user, other });
      await asUser(container, { user, key: other }, `echo '${JOB}' | crontab -`);
    },
  );
  await step(
    `revoking one by ${by} ends what it opened, and ${spared ? "spares" : "in sudo mode also ends"} what the other did`,
    async () => {
      const id = (
        await container.sh(`${uam} key list ${user} --json | grep -B9 '"${revoked}"' | grep -om1 '"id": *[0-9]*'`)
      ).replace(/\D/g, "");
      if (by === "the shell") await container.sh(`${uam} key revoke ${user} ${id}`);
      else await revokeOwnKey(container, user, id);
      await refused(container, user, revoked);
      const runs = async (key: string, number: number) =>
        (await container.attempt(`pgrep -U ext_${user} -f '^${mark(key, number)}'`)).status === 0;
      const seen = [];
      for (const connection of connections) {
        const { key } = connection;
        seen.push([await runs(key, SESSION), await runs(key, DAEMON), await isShared(container, connection)]);
      }
      // A daemon has left the session's tree, so nothing shows which key it came with.
      same(
        JSON.stringify(seen),
        JSON.stringify([
          [false, false, false],
          [spared, false, spared],
        ]),
        "what goes on",
      );
      // No job says whose key planted it.
      await container.sh(`test ! -e /var/spool/cron/crontabs/ext_${user}`);
      const kept = await container.sh(`uam user jobs ${user}`);
      if (!kept.includes(JOB)) throw new Error(`root's copy of the crontab is missing: ${kept}`);
      await container.sh(`${uam} user delete ${user} --yes`);
    },
  );
}

async function openSession(container: Container, { user, key }: Connection): Promise<void> {
  const inside = `(setsid ${mark(key, DAEMON)} >/dev/null 2>&1 &); exec ${mark(key, SESSION)}`;
  await startAsUser(container, { user, key }, inside);
  const runs = (number: number) => `pgrep -U ext_${user} -f '^${mark(key, number)}'`;
  await container.until(`${runs(SESSION)} && ${runs(DAEMON)}`, 20);
}

/** Writes, in every way an owner has, that the other key opened each of the account's connections. */
async function forge(container: Container, { user, other }: Case): Promise<void> {
  // For a moment the process that sshd makes for the account's own side has the name and the uid of the one that made it.
  const seen = `PIDS=$(pgrep -U 0 -x -f 'sshd(-session)?: ext_${user} .(priv|postauth).'); test "$(wc -w <<<"$PIDS")" = 4; echo "$PIDS"`;
  const pids = (await container.until(seen, 10)).trim().split("\n");
  const fingerprint = (await container.sh(`ssh-keygen -l -f /root/${other}.pub`)).split(" ")[1];
  const line = `Accepted publickey for ext_${user} from 127.0.0.1 port 5 ssh2: ED25519 ${fingerprint}`;
  const entry = (pid: string) =>
    `MESSAGE=${line}\\n_PID=${pid}\\n_UID=0\\nSYSLOG_PID=${pid}\\nSYSLOG_IDENTIFIER=sshd\\n`;
  const lies = pids.flatMap((pid) => [
    `logger -t sshd --id=${pid} '${line}'`,
    `printf '${entry(pid)}' | logger --journald`,
    `printf '<38>sshd[${pid}]: ${line}' | logger -p auth.info --prio-prefix`,
  ]);
  await asUser(container, { user, key: other }, [...lies, `systemd-cat -t sshd echo '${line}'`].join("\n"));
  // They arrived, each under the account's own uid.
  await container.until(
    `test "$(journalctl -q _UID=$(id -u ext_${user}) --grep 'Accepted publickey' | wc -l)" -ge ${lies.length + 1}`,
    10,
  );
}

function mark(key: string, number: number): string {
  return `sleep ${key.endsWith("-lost") ? 8000 + number : 8100 + number}`;
}
