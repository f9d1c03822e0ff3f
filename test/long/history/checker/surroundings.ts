/** What the nemesis did, as the rules need it: when a host heard nothing, how far its clock was off, what a restore took back. */

import type { Done, History, Of } from "./history.ts";

export interface Surroundings {
  /** Since when the host can have had no answer of the service; undefined if it may have had one. */
  deafSince(host: string, login: Interval): number | undefined;
  /** The longest lease that a host which heard nothing since then may hold; Infinity: without end. */
  leaseAt(host: string, since: number): number;
  /** The last time that the host was certainly booted before. */
  bootBefore(host: string, moment: number): Done | undefined;
  /** The least and the greatest that its clock may be off by. */
  clock(host: string, interval: Interval): readonly [number, number];
  /** Whether nothing befell the host's agent in that time. */
  isAgentUp(host: string, interval: Interval): boolean;
  isFull(host: string, interval: Interval): boolean;
  /** The restore that may have taken it back before that moment. */
  lostBy(deed: Done, before: number): Of<"restore"> | undefined;
  isSurelyLost(deed: Done, before: number): boolean;
  /** From when on hosts do as the restored database says. */
  acceptedAfter(restore: Done): number;
  restoreBefore(moment: number): Done | undefined;
  /** The calm in which the interval lies, once everything has had its time to settle. */
  calmAround(interval: Interval): Done | undefined;
}

export interface Interval {
  readonly invoked: number;
  readonly ended: number;
}

const NEVER = Number.POSITIVE_INFINITY;

export function readSurroundings({ start, deeds }: History): Surroundings {
  const befell = deeds.filter(({ outcome }) => outcome !== "fail");
  const named = <Name extends Done["do"]>(...names: readonly Name[]) =>
    befell.filter((deed): deed is Of<Name> => (names as readonly string[]).includes(deed.do));
  const onHost = <Name extends "cut" | "heal" | "kill" | "stop" | "go" | "boot" | "full" | "room" | "clock" | "lease">(
    ...names: readonly Name[]
  ) => Map.groupBy(named(...names), ({ host }) => host);
  const silences = [
    { begins: onHost("cut"), ends: onHost("heal") },
    { begins: onHost("stop"), ends: onHost("go") },
  ];
  const [blows, fulls, rooms] = [onHost("kill", "boot", "stop", "go"), onHost("full"), onHost("room")];
  const [boots, clocks, leases] = [onHost("boot"), onHost("clock"), onHost("lease")];
  const restores = named("restore");
  const accepts = named("accept");
  const calms = named("calm");
  const backups = new Map(named("backup").map((deed) => [deed.n, deed]));

  /** Since when it certainly is: from the first beginning after the last end. */
  function lasting(begins: readonly Done[] = [], ends: readonly Done[] = [], { invoked, ended }: Interval) {
    const last = ends.findLast((end) => end.invoked <= ended)?.invoked ?? Number.NEGATIVE_INFINITY;
    return begins.find((begin) => begin.invoked > last && begin.ended < invoked)?.ended;
  }
  function lostBy(deed: Done, before: number): Of<"restore"> | undefined {
    return restores.find(
      (restore) =>
        restore.invoked <= before &&
        deed.invoked < restore.ended &&
        deed.ended > (backups.get(restore.backup)?.invoked ?? Number.NEGATIVE_INFINITY),
    );
  }

  return {
    lostBy,
    deafSince(host, login) {
      const since = silences.flatMap(({ begins, ends }) => lasting(begins.get(host), ends.get(host), login) ?? []);
      return since.length === 0 ? undefined : Math.min(...since);
    },
    leaseAt(host, since) {
      const told = (leases.get(host) ?? []).filter(({ invoked }) => invoked <= since);
      const replaced = told.findLast(({ outcome, by }) => outcome === "ok" && by !== null && by < since);
      const given = told.filter(({ ended }) => replaced === undefined || ended >= replaced.invoked);
      return Math.max(
        ...(replaced === undefined ? [start.lease ?? NEVER] : []),
        ...given.map(({ lease }) => lease ?? NEVER),
      );
    },
    bootBefore: (host, moment) => boots.get(host)?.findLast(({ ended }) => ended < moment),
    clock(host, { invoked, ended }) {
      const set = (clocks.get(host) ?? []).filter((deed) => deed.invoked <= ended);
      const last = set.findLast((deed) => deed.ended < invoked);
      const offs = set.flatMap((deed) => (last !== undefined && deed.ended < last.invoked ? [] : [deed.off]));
      if (last === undefined) offs.push(0);
      return [Math.min(...offs), Math.max(...offs)];
    },
    isAgentUp: (host, { invoked, ended }) =>
      (blows.get(host) ?? []).every((deed) => deed.invoked > ended || deed.ended < invoked) &&
      lasting(silences[1]?.begins.get(host), silences[1]?.ends.get(host), { invoked, ended }) === undefined,
    isFull(host, { invoked, ended }) {
      const begun = (fulls.get(host) ?? []).findLast((deed) => deed.invoked <= ended);
      return (
        begun !== undefined && !rooms.get(host)?.some((deed) => deed.invoked > begun.invoked && deed.ended < invoked)
      );
    },
    isSurelyLost: (deed, before) =>
      restores.some(
        (restore) =>
          restore.outcome === "ok" &&
          restore.ended < before &&
          deed.ended < restore.invoked &&
          deed.invoked > (backups.get(restore.backup)?.ended ?? NEVER),
      ),
    acceptedAfter: (restore) => accepts.find(({ invoked }) => invoked > restore.invoked)?.invoked ?? NEVER,
    restoreBefore: (moment) => restores.findLast(({ invoked }) => invoked <= moment),
    calmAround: ({ invoked, ended }) =>
      calms.find((calm) => calm.outcome === "ok" && invoked >= calm.invoked + start.settle && ended <= calm.ended),
  };
}
