/** Who is logged in is listed; and a login that is under way while access is taken away does not survive, at whatever stage it is. */

import { logIn, openSession, refused, uploadKey } from "./access.ts";
import { idle } from "./checks.ts";
import type { Container } from "./container.ts";
import { same, step } from "./steps.ts";

const USER = "uma";
const ACCOUNT = `ext_${USER}`;
const SLOW = "/etc/pam.d/sshd";
/** Both ways of waiting end with this file. */
const GO = "/root/go";
/** sshd's own process for the account's connections, whatever its stage. */
const CONNECTION = `-U 0 -f '^sshd(-session)?: ${ACCOUNT}'`;
/** sshd's whole part of a login is over long before. */
const ENDED = 10;

/** Where a login can be when access is taken away: before its signature is checked, and after it, before anything runs as the account. */
const STAGES = ["signing", "opening its session"] as const;
type Stage = (typeof STAGES)[number];

/** Runs it all for a service whose command is `uam`; throws at the first thing that is wrong. */
export async function underWay(container: Container, uam: string): Promise<void> {
  await step("a session is listed with the key that sshd's log proves", async () => {
    await container.sh(`${uam} user create ${USER} --email ${USER}@example.org`);
    await logIn(container, uam, USER);
    await uploadKey(container, USER, "uma-0");
    await openSession(container, USER, "uma-0");
    same(await sessionsOf(container, uam), "uma-0\n", "the keys of the open sessions");
  });
  await step("narrowing a key's networks ends the session from outside", async () => {
    const id = await keyId(container, uam, "uma-0");
    await container.sh(
      `curl -sSf -b /root/${USER}.jar -X PATCH -H 'Content-Type: application/json' -d '{"source_networks":["192.0.2.0/24"]}' ${container.api}/me/keys/${id}`,
    );
    // The account's manager, which is nobody's session, stays a moment longer.
    await idle(container, `-u ${ACCOUNT} -x sleep`);
    await idle(container, CONNECTION);
    same(await sessionsOf(container, uam), "", "the keys of the open sessions");
  });
  await setUpWaiting(container);
  for (const [index, stage] of STAGES.entries()) {
    await step(`a login that is ${stage} while its key is revoked does not survive`, async () => {
      const key = `uma-revoked-${index}`;
      await uploadKey(container, USER, key);
      await begin(container, key, stage);
      await container.sh(`${uam} key revoke ${USER} ${await keyId(container, uam, key)}`);
      await overNow(container, key);
    });
    await step(`nor one that is ${stage} while the user is disabled`, async () => {
      const key = `uma-disabled-${index}`;
      await uploadKey(container, USER, key);
      await begin(container, key, stage);
      await container.sh(`${uam} user disable ${USER}`);
      await overNow(container, key);
      await container.sh(`${uam} user enable ${USER}`);
      // The session of before has ended.
      await logIn(container, uam, USER);
    });
  }
  await container.sh(
    `sed -i '/uam-test-slow/d' ${SLOW} && ${uam} user delete ${USER} --yes && ${uam} reconcile --check`,
  );
}

/** ssh waits for an agent that asks first, and sshd for PAM, until the file is there. */
async function setUpWaiting({ sh }: Container): Promise<void> {
  await sh(`cat >/root/uam-test-ask <<'END'
#!/bin/sh
until test -e ${GO}; do sleep 0.1; done
END
    cat >/usr/local/bin/uam-test-slow <<'END'
#!/bin/sh
test "$PAM_USER" = ${ACCOUNT} && test -e /root/slow || exit 0
touch /root/waits
until test -e ${GO}; do sleep 0.1; done
END
    chmod +x /root/uam-test-ask /usr/local/bin/uam-test-slow
    echo "session optional pam_exec.so /usr/local/bin/uam-test-slow" >>${SLOW}`);
}

/** Starts a login that stops there. */
async function begin({ sh, until }: Container, key: string, stage: Stage): Promise<void> {
  const isSlow = stage === "opening its session";
  const ask = isSlow ? "" : "-c";
  await sh(`rm -f ${GO} /root/waits /root/slow /root/${key}.log; ${isSlow ? "touch /root/slow" : ""}
    export SSH_ASKPASS=/root/uam-test-ask SSH_ASKPASS_REQUIRE=force
    setsid ssh-agent sh -c 'ssh-add -q ${ask} /root/${key} && exec ssh -v -o BatchMode=no -o IdentitiesOnly=yes -o IdentityFile=/root/${key}.pub \
      -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null ${ACCOUNT}@127.0.0.1 "echo inside; sleep 600"' </dev/null >/root/${key}.log 2>&1 &`);
  if (isSlow) await until("test -e /root/waits", 20);
  else await until(`grep -q 'Server accepts key' /root/${key}.log && pgrep ${CONNECTION}`, 20);
}

/** Lets it go on: it must come to nothing. */
async function overNow(container: Container, key: string): Promise<void> {
  await container.sh(`touch ${GO}`);
  await container.until(`! pgrep -x ssh`, ENDED);
  await container.sh(`! grep -qx inside /root/${key}.log`);
  await idle(container, `-u ${ACCOUNT}`);
  await idle(container, CONNECTION);
  await refused(container, USER, key);
}

async function sessionsOf({ sh }: Container, uam: string): Promise<string> {
  return await sh(`${uam} user sessions ${USER} --json | sed -n 's/^ *"name": "\\(.*\\)".*/\\1/p'`);
}

async function keyId({ sh }: Container, uam: string, key: string): Promise<string> {
  const found = await sh(`${uam} key list ${USER} --json | grep -B9 '"${key}"' | grep -o '"id": *[0-9]*' | tail -n 1`);
  return found.replace(/\D/g, "");
}
