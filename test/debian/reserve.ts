/** What is left when an account takes all it can: enough to shut it, and a service that restarts. */

import { admitted, asUser, logIn, refused, startAsUser, uploadKey } from "./access.ts";
import { answers, idle, mainPid, orWakeAtd } from "./checks.ts";
import type { Container } from "./container.ts";
import { same, step } from "./steps.ts";

const USER = "boris";
const KEY = "boris-key";
const API = "http://127.0.0.1:8080/api/v1";
/** cron(8) looks once a minute. */
const A_MINUTE_OF_CRON = 65;

/** Runs it all for a service whose command is `uam`, with the administrator root-admin; throws at the first thing that is wrong. */
export async function reserve(container: Container, uam: string, password: string): Promise<void> {
  const limit = await limitOf(container);
  await step(`an account may have ${limit} processes, whatever starts them; others as many as before`, async () => {
    await container.sh(`${uam} user create ${USER} --email ${USER}@example.org`);
    await logIn(container, uam, USER);
    await uploadKey(container, USER, KEY);
    const tell = "bash -c 'ulimit -Hu'";
    const said = await asUser(
      container,
      { user: USER, key: KEY },
      `echo "${tell} >at.limit" | at now 2>/dev/null
      echo "* * * * * ${tell} >cron.limit" | crontab -
      ${tell}; until systemctl --user is-system-running >/dev/null; do sleep 0.2; done
      systemd-run --user --wait --pipe --quiet ${tell}`,
    );
    same(said, `${limit}\n${limit}\n`, "the limit in a session and in the user's manager");
    for (const file of ["at.limit", "cron.limit"]) {
      const seen = await container.until(orWakeAtd(`cat /home/ext_${USER}/${file} | grep .`), A_MINUTE_OF_CRON);
      same(seen, `${limit}\n`, `the limit in ${file}`);
    }
    const other = Number(await container.sh(`su daemon --shell /bin/bash --command "${tell}"`));
    if (other <= Number(limit)) throw new Error(`another user's limit is ${other}`);
  });
  await step("an account that starts all it can is disabled through the API at once, and stays out", async () => {
    await container.sh(
      `curl -sSf -c /root/bomb.jar -H 'Content-Type: application/json' -d '${JSON.stringify({ username: "root-admin", password })}' ${API}/auth/admin/login`,
    );
    const id = (await container.sh(`${uam} user show ${USER} | sed -n 's/^id *//p'`)).trim();
    // Each of them fills what becomes free; busy as well, in two containers at a time, they would leave this machine nothing.
    const bomb = "perl -e 'while (1) { defined(fork) or select(undef, undef, undef, 1) }'";
    await startAsUser(container, { user: USER, key: KEY }, bomb);
    await container.until(`test "$(ps -L -u ext_${USER} --no-headers | wc -l)" -ge ${Number(limit) - 20}`, 30);
    const begin = performance.now();
    const said = await container.sh(`curl -sS -m 60 -b /root/bomb.jar -X POST ${API}/users/${id}/disable`, 70);
    same(said, '{"data":{"status":"disabled"}}', `the answer after ${Math.round(performance.now() - begin)} ms`);
    await refused(container, USER, KEY);
    await idle(container, `-u ext_${USER}`);
    await answers(container);
  });
  await step("a runtime that aborts is restarted, however often, and continues", async () => {
    const interval = await container.sh("systemctl show --property=StartLimitIntervalUSec --value uam");
    same(interval, "0\n", "the time in which systemd would give up");
    const before = await mainPid(container);
    await container.sh(`kill -ABRT ${before}`);
    await container.until(`test "$(systemctl show --property=MainPID --value uam)" -gt 0; systemctl is-active uam`, 30);
    await answers(container);
    await refused(container, USER, KEY);
    await container.sh(`${uam} user enable ${USER}`);
    await admitted(container, USER, KEY);
    await container.sh(`${uam} user delete ${USER} --yes`);
  });
}

/** In direct mode: what the unit leaves the service to write of the kernel's switches. */
export async function switches(container: Container): Promise<void> {
  await step("the service can write only the users' control groups, and nothing else in /sys", async () => {
    const inside = `nsenter --mount --target ${await mainPid(container)}`;
    const groups = (await container.sh("findmnt -n -o TARGET -t cgroup2 | head -1")).trim();
    await container.sh(`${inside} test -w ${groups}/user.slice && ! ${inside} test -w ${groups}/system.slice`);
    await container.sh(`! ${inside} test -w ${groups} && ! ${inside} test -w /sys && ! ${inside} test -w /proc/sys`);
  });
}

async function limitOf({ sh }: Container): Promise<string> {
  return (await sh("sed -n 's/^@uam-ext - nproc //p' /etc/security/limits.d/50-uam.conf")).trim();
}
