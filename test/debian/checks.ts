/** Checks of the host and of the service in both modes. */

import type { Container } from "./container.ts";
import { promisedRating } from "./readme.ts";
import { same } from "./steps.ts";

/** Waits until the service answers. */
export async function answers({ until, api }: Container): Promise<void> {
  await until(`curl -sf --max-time 5 ${api}/healthz`, 30);
}

/** Throws if doctor finds a fault; only the clock may be one, which a container cannot set. */
export async function healthy({ attempt }: Container, uam: string): Promise<void> {
  const { status, stdout, stderr } = await attempt(`${uam} doctor --json`);
  const findings: readonly { readonly area: string; readonly state: string; readonly finding: string }[] =
    JSON.parse(stdout);
  const faults = findings.filter(({ state }) => state === "fault");
  const others = faults.filter(({ area }) => area !== "clock");
  if (findings.length < 5 || others.length > 0) throw new Error(`doctor found ${stdout}${stderr}`);
  same(String(status), faults.length === 0 ? "0" : "1", "doctor's exit code");
}

/** The pid of the service. */
export async function mainPid({ sh }: Container): Promise<string> {
  return (await sh("systemctl show --property=MainPID --value uam")).trim();
}

/** Kills the service with SIGKILL, and waits until systemd has restarted it and it answers. */
export async function killService(container: Container): Promise<void> {
  const before = await mainPid(container);
  await container.sh(`kill -9 ${before}`);
  await container.until(
    `PID=$(systemctl show --property=MainPID --value uam); test $PID != 0; test $PID != ${before}; systemctl is-active uam`,
    30,
  );
  await answers(container);
}

/** Throws unless systemd's own figure for the unit is that of docs/install.md for the mode. */
export async function ratedAsPromised({ sh }: Container, mode: "direct" | "sudo"): Promise<void> {
  const said = await sh("systemd-analyze security --no-pager uam | tail -n 1");
  same(/uam\.service: ([\d.]+) /.exec(said)?.[1] ?? said, promisedRating(mode), "systemd-analyze security uam");
}

/** A digest of every file that an installation could touch. */
export async function hostFingerprint({ sh }: Container): Promise<string> {
  const own = "$(ls -d /var/lib/uam /var/cache/uam 2>/dev/null || true)";
  return await sh(`find /etc /usr ${own} -xdev -printf '%p %s %T@ %m %u\\n' | sort | sha256sum`);
}

/** Throws if one of the paths is there. */
export async function absent({ sh }: Container, paths: readonly string[]): Promise<void> {
  await sh(`for path in ${paths.join(" ")}; do if test -e $path; then echo "$path is there"; exit 1; fi; done`);
}

/** Throws if pgrep(1) goes on finding a process: init takes in what has ended, as soon as the machine lets it. */
export async function idle({ until }: Container, pattern: string): Promise<void> {
  await until(noneRuns(pattern), 30);
}

/** A script that ends with 0 if pgrep(1) finds no process; with a pattern that it does not understand it finds none either. */
export function noneRuns(pattern: string): string {
  return `pgrep -a ${pattern} && exit 1 || test $? = 1`;
}

/**
 * The test, and where it fails a signal to atd, which reads its directory again. It compares times of whole seconds, and so may sleep for an
 * hour over a job that came in the second in which it last looked.
 */
export function orWakeAtd(test: string): string {
  return `${test} || { touch /var/spool/cron/atjobs; systemctl kill --kill-whom=main --signal=HUP atd; false; }`;
}
