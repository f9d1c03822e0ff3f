/** What an external user does from outside: log in with a code, upload a key, and use ssh. */

import { idle } from "./checks.ts";
import type { Container } from "./container.ts";

const JSON_BODY = "-H 'Content-Type: application/json'";
/** While sshd reads its configuration again it listens nowhere for a moment: then ssh tries once more, a second later. */
const SSH =
  "-o BatchMode=yes -o IdentitiesOnly=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -o ConnectTimeout=10 -o ConnectionAttempts=5";

/** Logs an administrator in and returns the usernames that the API lists. */
export async function listedUsers({ sh, api }: Container, admin: string, password: string): Promise<string> {
  const body = JSON.stringify({ username: admin, password });
  await sh(`curl -sSf -c /root/${admin}.jar ${JSON_BODY} -d '${body}' ${api}/auth/admin/login`);
  return await sh(`curl -sSf -b /root/${admin}.jar ${api}/users | grep -o '"username":"[a-z]*"'`);
}

/** Logs the user in with a one-time code from the command line; the session stays in a file. */
export async function logIn({ sh, api }: Container, uam: string, user: string): Promise<void> {
  await sh(
    `for again in $(seq 70); do CODE=$(${uam} otp ${user}) && break; sleep 1; done; curl -sSf -c /root/${user}.jar ${JSON_BODY} -d "{\\"username\\":\\"${user}\\",\\"code\\":\\"$CODE\\"}" ${api}/auth/otp/login`,
  );
}

/** Makes a key pair and uploads the public key in the user's session. */
export async function uploadKey({ sh, api }: Container, user: string, key: string): Promise<void> {
  await sh(`ssh-keygen -q -t ed25519 -N '' -f /root/${key}
    curl -sSf -b /root/${user}.jar ${JSON_BODY} -d "{\\"name\\":\\"${key}\\",\\"public_key\\":\\"$(cat /root/${key}.pub)\\"}" ${api}/me/keys`);
}

/** The user's own list of keys, which needs the session, but for when they were last used, which a job stores meanwhile. */
export async function ownKeys({ sh, api }: Container, user: string): Promise<string> {
  const keys = await sh(`curl -sSf -b /root/${user}.jar ${api}/me/keys`);
  return keys.replace(/"last_used_at":[^,]*,"last_used_from":"[^"]*"/g, "");
}

/** Revokes a key in its owner's session: the service itself does it. */
export async function revokeOwnKey({ sh, api }: Container, user: string, id: string): Promise<void> {
  await sh(`curl -sSf -b /root/${user}.jar -X DELETE ${api}/me/keys/${id}`);
}

/** How a user connects, and further options for ssh(1). */
export interface Connection {
  readonly user: string;
  readonly key: string;
  readonly options?: string;
}

/** Runs a script as the user, on a connection of its own; what ssh leaves in the background stays. */
export async function asUser({ sh }: Container, connection: Connection, script: string): Promise<string> {
  return await sh(`${clientCommand(connection, script)} </dev/null`, 30);
}

/** Runs a script as the user that keeps running, on a connection of its own. */
export async function startAsUser({ sh }: Container, connection: Connection, script: string): Promise<void> {
  await sh(`setsid ${clientCommand(connection, script)} </dev/null >/dev/null 2>&1 &`);
}

function clientCommand({ user, key, options = "" }: Connection, script: string): string {
  const words = script === "" ? "" : `"$(cat <<'SCRIPT'\n${script}\nSCRIPT\n)"`;
  return `ssh ${SSH} ${options} -i /root/${key} ext_${user}@127.0.0.1 ${words}`;
}

/** Throws unless the key opens the account. */
export async function admitted({ sh }: Container, user: string, key: string): Promise<void> {
  const name = await sh(`ssh ${SSH} -i /root/${key} ext_${user}@127.0.0.1 id -un`, 20);
  if (name !== `ext_${user}\n`) throw new Error(`ssh logged in as ${name}`);
}

/** Throws unless sshd refuses the key. */
export async function refused({ attempt }: Container, user: string, key: string): Promise<void> {
  const { status, stdout, stderr } = await attempt(`ssh ${SSH} -i /root/${key} ext_${user}@127.0.0.1 true`, 20);
  // A login that is under way while access is taken away is ended.
  if (
    status !== 255 ||
    !/Permission denied|Connection closed|Connection reset|send disconnect: Broken pipe/.test(stderr)
  ) {
    throw new Error(`ssh was not refused: ${status} ${stdout}${stderr}`);
  }
}

/** Opens a session that stays, with a process in it that keeps running. */
export async function openSession({ sh, until }: Container, user: string, key: string): Promise<void> {
  const inside = "nohup sleep 600 >/dev/null 2>&1 & echo open; sleep 600";
  await sh(`rm -f /root/session.log
    setsid ssh ${SSH} -i /root/${key} ext_${user}@127.0.0.1 '${inside}' </dev/null >/root/session.log 2>&1 &`);
  await until("grep -q open /root/session.log", 20);
  await until(`test "$(pgrep -c -u ext_${user} sleep)" = 2`, 20);
}

/** Opens a connection that only forwards and that others can share; its control socket is `/root/<key>.mux`. */
export async function openSharedConnection(container: Container, { user, key }: Connection): Promise<void> {
  const options = `-f -N -M -S /root/${key}.mux -L /root/${key}.forward:127.0.0.1:22`;
  await asUser(container, { user, key, options }, "");
  if (!(await isShared(container, { user, key }))) throw new Error(`the connection with ${key} is not shared`);
}

/** True as long as sshd keeps that connection. */
export async function isShared({ attempt }: Container, { user, key }: Connection): Promise<boolean> {
  return (await attempt(`ssh -S /root/${key}.mux -O check ext_${user}@127.0.0.1`)).status === 0;
}

/** Throws unless the user has no processes any more. */
export async function sessionEnded(container: Container, user: string): Promise<void> {
  await idle(container, `-u ext_${user}`);
}
