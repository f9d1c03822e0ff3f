/** A service and a further host with an agent, on two Debians with a wire between them. */

import { join } from "node:path";
import { makeCertificate } from "../support/certificate.ts";
import { admitted, logIn, openSession, refused, sessionEnded, uploadKey } from "./access.ts";
import { absent, answers, noneRuns, orWakeAtd } from "./checks.ts";
import type { Container } from "./container.ts";
import { packageCommands } from "./readme.ts";
import { same, say, step } from "./steps.ts";
import { ADDRESSES, connect, type Wire } from "./wire.ts";

export interface TwoHosts {
  readonly service: Container;
  readonly web7: Container;
}

export interface FleetOptions {
  /** How the agent changes its host. */
  readonly mode: "direct" | "sudo";
  /** The package, on either host. */
  readonly first: string;
}

const NAME = "uam.example.org";
const USER = "carol";
/** From the two commands to the first login; seconds. */
const PROMISED = 60;
/** The shortest lease that there is, what the second enforcer may add, and what the tests may take; seconds. */
const LEASE = 300;
const SLACK = 30;
/** When the second at job is due, in minutes: after the lease, however long the first things take. */
const JOB_DUE = 6;
/** How long the host is watched after the lease, in seconds: longer than cron waits between two looks, and until that job is due and late. */
const A_MINUTE_OF_CRON = 65;
const LATE = 10;

/** From joining to leaving, without the end of a lease; throws at the first thing that is wrong. */
export async function twoHosts(hosts: TwoHosts, options: FleetOptions): Promise<void> {
  const { web7 } = hosts;
  const wire = await begins(hosts, options);
  await changes(hosts);
  await step("doctor and status on the agent's host are content", async () => {
    await web7.sh("uam agent status");
    await web7.sh("uam lock --help >/dev/null");
  });
  await survives(hosts, wire);
  await lockedThere(hosts, wire);
  await keepsJobs(hosts);
  await setBack(hosts, wire);
  if (options.mode === "direct") await leaves(hosts);
  else await retires(hosts);
}

/** The end of a lease, which takes minutes to come: each way in one mode. Throws at the first thing that is wrong. */
export async function outlivesLease(hosts: TwoHosts, options: FleetOptions): Promise<void> {
  const wire = await begins(hosts, options);
  await leaseEnds(hosts, wire, options.mode === "direct" ? "logins" : "sessions");
}

async function begins(hosts: TwoHosts, options: FleetOptions): Promise<Wire> {
  const wire = await step("a wire between the two hosts", () => connect(hosts.service, hosts.web7));
  await step("the service, with a certificate of an authority of its own", () => serves(hosts, options));
  await joins(hosts, options);
  return wire;
}

async function serves({ service, web7 }: TwoHosts, { first }: FleetOptions): Promise<void> {
  for (const command of packageCommands(first)) await service.sh(command, 120);
  await answers(service);
  makeCertificate(join(service.directory, "etc/uam"), `DNS:${NAME}`);
  await service.sh(`chgrp uam /etc/uam/key.pem; chmod 640 /etc/uam/key.pem
    cat >>/etc/uam/uam.env <<END
UAM_LISTEN=0.0.0.0:8443
UAM_TLS_CERT=/etc/uam/cert.pem
UAM_TLS_KEY=/etc/uam/key.pem
UAM_BASE_URL=https://${NAME}:8443
END
    echo "cacert = /etc/uam/cert.pem" >/root/.curlrc
    echo "127.0.0.1 ${NAME}" >>/etc/hosts
    systemctl restart uam`);
  service.api = `https://${NAME}:8443/api/v1`;
  await answers(service);
  await web7.sh(`echo "${ADDRESSES[0]} ${NAME}" >>/etc/hosts`);
  const certificate = await service.sh("cat /etc/uam/cert.pem");
  await web7.sh(`cat >/root/ca.pem <<'END'\n${certificate}END`);
  await web7.sh(`apt-get install -y -qq ${first} >/dev/null 2>&1 || dpkg --install ${first}`, 120);
}

async function joins({ service, web7 }: TwoHosts, { mode }: FleetOptions): Promise<void> {
  await service.sh(`uam user create ${USER} --email ${USER}@example.org --ttl-days 3`);
  await logIn(service, "uam", USER);
  await uploadKey(service, USER, "first");
  const key = await service.sh("cat /root/first");
  await web7.sh(`umask 077; cat >/root/first <<'END'\n${key}END`);
  await step(`two commands, and a login on the second host (${mode} mode)`, async () => {
    const begin = performance.now();
    const line = (await service.sh("uam host token --name web7 --group default")).trim();
    await web7.sh(`uam agent join '${line}' --mode ${mode} --ca /root/ca.pem`, 60);
    await untilAdmitted(web7, "first", PROMISED);
    const seconds = (performance.now() - begin) / 1000;
    say(`      the first login came ${seconds.toFixed(1)} s after the first command (promised: ${PROMISED} s)`);
    if (seconds > PROMISED) throw new Error("that is later than promised");
  });
}

async function changes({ service, web7 }: TwoHosts): Promise<void> {
  await step("a new key works on both hosts; a revoked one is refused on both, and its sessions are over", async () => {
    await uploadKey(service, USER, "second");
    await web7.sh(`umask 077; cat >/root/second <<'END'\n${await service.sh("cat /root/second")}END`);
    await untilAdmitted(web7, "second", 10);
    await service.sh(`uam key revoke ${USER} 1`);
    await sessionEnded(web7, USER);
    for (const host of [service, web7]) {
      await refused(host, USER, "first");
      await admitted(host, USER, "second");
    }
  });
  await step("disabled is disabled on both when the command returns; enabled opens both", async () => {
    await service.sh(`uam user disable ${USER}`);
    for (const host of [service, web7]) await refused(host, USER, "second");
    await service.sh(`uam user enable ${USER}`);
    await untilAdmitted(web7, "second", 10);
  });
  await step(
    "an account that somebody took out of uam-ext is disabled on both all the same, and put back",
    async () => {
      for (const host of [service, web7]) await host.sh(`gpasswd -d ext_${USER} uam-ext`);
      await service.sh(`uam user disable ${USER}`);
      for (const host of [service, web7]) await refused(host, USER, "second");
      for (const host of [service, web7]) await host.until(`id -nG ext_${USER} | grep -qw uam-ext`, 120);
      await service.sh(`uam user enable ${USER}`);
      await untilAdmitted(web7, "second", 10);
    },
  );
  await step("one uid on both hosts", async () => {
    same(await web7.sh(`id -u ext_${USER}`), await service.sh(`id -u ext_${USER}`), "the uid");
  });
}

async function survives({ service, web7 }: TwoHosts, wire: Wire): Promise<void> {
  await step("what was revoked while the wire was cut is refused as soon as it is mended", async () => {
    // Enabling ended the session of before.
    await logIn(service, "uam", USER);
    await uploadKey(service, USER, "third");
    await web7.sh(`umask 077; cat >/root/third <<'END'\n${await service.sh("cat /root/third")}END
      ssh-keygen -y -f /root/third >/root/third.pub`);
    await untilAdmitted(web7, "third", 10);
    await wire.cut();
    await service.sh(`uam key revoke ${USER} 2 >/root/revoked 2>&1; cat /root/revoked`);
    await service.sh("grep -q web7 /root/revoked");
    await refused(service, USER, "second");
    await admitted(web7, USER, "second");
    await wire.mend();
    await untilRefused(web7, "second", 90);
    // What the revoked key had opened is ended next; where nothing proves whose a login is, others that are under way end, too.
    await untilAdmitted(web7, "third", 10);
  });
  await step("the agent is killed, and the service too: both are back by themselves", async () => {
    await web7.sh("kill -9 $(systemctl show --property=MainPID --value uam-agent)");
    await service.sh("kill -9 $(systemctl show --property=MainPID --value uam)");
    await answers(service);
    await service.sh(`uam user disable ${USER}`);
    await untilRefused(web7, "third", 90);
    await service.sh(`uam user enable ${USER}`);
    await untilAdmitted(web7, "third", 90);
  });
}

async function lockedThere({ service, web7 }: TwoHosts, wire: Wire): Promise<void> {
  await step("uam lock on the agent's host works without the service, which records it later", async () => {
    await wire.cut();
    await web7.sh(`uam lock ${USER}`);
    await refused(web7, USER, "third");
    await wire.mend();
    await service.until(`uam user show ${USER} --json | grep -q '"status": *"disabled"'`, 120);
    await refused(service, USER, "third");
    await service.sh(`uam user enable ${USER}`);
    await untilAdmitted(web7, "third", 30);
  });
}

async function keepsJobs({ service, web7 }: TwoHosts): Promise<void> {
  await step("root sees there what disabling took away: uam agent jobs", async () => {
    await web7.sh(`cd /tmp; echo '59 23 31 12 * echo kept-crontab' | runuser -u ext_${USER} -- crontab -
      echo 'echo kept-at-job' | runuser -u ext_${USER} -- at now + 2 hours`);
    await service.sh(`uam user disable ${USER}`);
    const kept = await web7.sh(`uam agent jobs ${USER}`);
    for (const line of ["59 23 31 12 * echo kept-crontab", "echo kept-at-job"])
      if (!kept.includes(line)) throw new Error(`${line} is not in: ${kept}`);
    await absent(web7, [`/var/spool/cron/crontabs/ext_${USER}`]);
    same(await web7.sh("atq"), "", "the at jobs of the host");
    await service.sh(`uam user enable ${USER}`);
    await untilAdmitted(web7, "third", 30);
  });
}

async function setBack({ service, web7 }: TwoHosts, wire: Wire): Promise<void> {
  const left = async () => JSON.parse(await web7.sh("uam agent status --json")).lease_until?.seconds_left;
  await step("an older state of the agent, put back once the wire is cut, opens nothing", async () => {
    await service.sh("uam host update web7 --lease none");
    await again(async () => {
      if ((await left()) !== null) throw new Error("the lease still has an end");
    }, 90);
    await web7.sh("cp -a /var/lib/uam-agent /root/before");
    await service.sh("uam host update web7 --lease 1h");
    await again(async () => {
      if (typeof (await left()) !== "number") throw new Error("the lease still has no end");
    }, 90);
    await service.sh(`uam user disable ${USER}`);
    await untilRefused(web7, "third", 30);
    await web7.sh("systemctl stop uam-agent");
    await wire.cut();
    await web7.sh("rm -r /var/lib/uam-agent && cp -a /root/before /var/lib/uam-agent && systemctl start uam-agent");
    // Time to do what its state says, if it believed that.
    await Bun.sleep(8000);
    await refused(web7, USER, "third");
    await wire.mend();
    await again(async () => {
      if ((await left()) === undefined) throw new Error("there is no lease yet");
    }, 120);
    await refused(web7, USER, "third");
    await service.sh(`uam user enable ${USER}`);
    await untilAdmitted(web7, "third", 60);
  });
}

async function leaseEnds({ service, web7 }: TwoHosts, wire: Wire, ends: "logins" | "sessions"): Promise<void> {
  const what = ends === "logins" ? "and no job runs on" : "and ends all sessions";
  await step(`cut off and with its agent stopped, the host lets nobody in when its lease ends, ${what}`, async () => {
    await service.sh(`uam host update web7 --lease 5m --lease-ends ${ends}`);
    await again(async () => {
      const { lease_until } = JSON.parse(await web7.sh("uam agent status --json"));
      if (lease_until.seconds_left > LEASE) throw new Error(`the lease is ${lease_until.seconds_left} s long`);
    }, 90);
    // One that goes on keeps the user's manager, lingering or not: what that runs is the session's then.
    if (ends === "sessions") await openSession(web7, USER, "first");
    const later = await plantJobs(web7);
    await wire.cut();
    const begin = performance.now();
    await web7.sh("kill -STOP $(systemctl show --property=MainPID --value uam-agent)");
    await admitted(web7, USER, "first");
    await Bun.sleep((LEASE - 60) * 1000 - (performance.now() - begin));
    await untilRefused(web7, "first", 60 + SLACK);
    say(`      refused ${((performance.now() - begin) / 1000).toFixed(0)} s after the cut, with a lease of ${LEASE} s`);
    // The look that refuses logins ends these, too, which takes a busy machine some seconds.
    await web7.until(noneRuns(`-u ext_${USER}`), 60);
    const then = await ranBy(web7);
    const watched = Math.max(A_MINUTE_OF_CRON, Math.ceil((later - performance.now()) / 1000) + LATE);
    await Bun.sleep(watched * 1000);
    same(await ranBy(web7), then, "what crontab, at job and lingering manager wrote after the lease");
    say(`      in ${watched} s after that no crontab, at job or lingering manager of the account ran anything`);
    await wire.mend();
    await web7.sh("kill -CONT $(systemctl show --property=MainPID --value uam-agent)");
    await untilAdmitted(web7, "first", 120);
    await web7.until(`test "$(${RAN}cron)" -gt ${then.split(" ")[0]}`, 120);
    await web7.until(`systemctl is-active --quiet user@$(id -u ext_${USER})`, 30);
    await web7.sh(`crontab -u ext_${USER} -r; loginctl disable-linger ext_${USER}`);
  });
}

/** A crontab, an at job that runs on, one that is due after the lease, and a service of a lingering manager: each writes lines. Gives when that one is due. */
async function plantJobs(web7: Container): Promise<number> {
  const as = `runuser -u ext_${USER} -- env XDG_RUNTIME_DIR=/run/user/$(id -u ext_${USER})`;
  const ticks = (name: string) => `while sleep 2; do date +%s >>/tmp/ran-${name}; done`;
  await web7.sh(`touch /tmp/ran-cron /tmp/ran-at /tmp/ran-linger; chmod 666 /tmp/ran-*
    loginctl enable-linger ext_${USER}
    echo '* * * * * date +\\%s >>/tmp/ran-cron' | ${as} crontab -
    cd /tmp; echo '${ticks("at")}' | ${as} at now
    echo 'date +%s >>/tmp/ran-at' | ${as} at now + ${JOB_DUE} minutes`);
  const later = performance.now() + JOB_DUE * 60_000;
  await web7.until(`${as} systemd-run --user --quiet sh -c '${ticks("linger")}'`, 30);
  for (const name of ["cron", "at", "linger"]) await web7.until(orWakeAtd(`test -s /tmp/ran-${name}`), 90);
  return later;
}

const RAN = "stat --format=%s /tmp/ran-";

/** How much each has written by now. */
async function ranBy(web7: Container): Promise<string> {
  return (await web7.sh(`echo $(${RAN}cron) $(${RAN}at) $(${RAN}linger)`)).trim();
}

/** With an account out of the group, too, which is removed as any other. */
async function retires({ service, web7 }: TwoHosts): Promise<void> {
  await step("a retired host has no account of ours any more, and the service forgets it", async () => {
    await web7.sh(`gpasswd -d ext_${USER} uam-ext`);
    await service.sh("uam host retire web7 --yes", 60);
    await web7.until(`! getent passwd ext_${USER}`, 60);
    await service.until("! uam host list | grep -q web7", 60);
    await admitted(service, USER, "third");
  });
}

async function leaves({ service, web7 }: TwoHosts): Promise<void> {
  const dropIn = "/etc/ssh/sshd_config.d/50-uam.conf";
  await step("leaving names an account that it does not know, and lets nobody in as long as that stays", async () => {
    await web7.sh(`gpasswd -d ext_${USER} uam-ext; useradd -u 65999 -m ext_other
      install -d -m 0700 -o ext_other -g ext_other /var/lib/uam/keys/ext_other /home/ext_other/.ssh
      for place in /var/lib/uam/keys/ext_other /home/ext_other/.ssh; do
        install -m 0600 -o ext_other -g ext_other /root/third.pub $place/authorized_keys; done`);
    await admitted(web7, "other", "third");
    const { status, stderr } = await web7.attempt("uam agent leave --yes", 60);
    if (status !== 1 || !/Not removed: ext_other\./.test(stderr)) throw new Error(`${status} ${stderr}`);
    await absent(web7, [`/home/ext_${USER}`, "/etc/systemd/system/uam-agent.service"]);
    await web7.sh(`if getent passwd ext_${USER}; then exit 1; fi; test -e ${dropIn}`);
    await refused(web7, USER, "third");
    await refused(web7, "other", "third");
  });
  await step("once it is gone, leaving again takes the rest away, and the service's own host goes on", async () => {
    // The login's user manager goes on for ten seconds (UserStopDelaySec).
    await web7.until("userdel -r ext_other || ! getent passwd ext_other", 60);
    await web7.sh("uam agent leave --yes", 60);
    await absent(web7, [dropIn, "/etc/uam/agent.env", "/var/lib/uam-agent/agent.json"]);
    await web7.sh("sshd -t");
    await admitted(service, USER, "third");
  });
}

async function untilAdmitted(container: Container, key: string, seconds: number): Promise<void> {
  await again(() => admitted(container, USER, key), seconds);
}

async function untilRefused(container: Container, key: string, seconds: number): Promise<void> {
  await again(() => refused(container, USER, key), seconds);
}

/** Until it does not throw; then throws what it threw last. */
async function again(work: () => Promise<void>, seconds: number): Promise<void> {
  const end = performance.now() + seconds * 1000;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (performance.now() > end) throw error;
      await Bun.sleep(500);
    }
  }
}
