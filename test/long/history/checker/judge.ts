/** The rules of the model (docs/history-model.md), one login after the other. */

import type { Span } from "../format.ts";
import type { Done, History, Of } from "./history.ts";
import { ALWAYS, common, namesOf, openBy, readRegisters, type Write } from "./registers.ts";
import { readSurroundings } from "./surroundings.ts";

export const RULES = {
  malformed: "the lines are no history",
  promise: "an answer promises less than a lease does",
  "never-given": "somebody gets in by what nobody ever gave",
  closed: "somebody gets in after the moment from which an answer says that nobody does",
  "out-of-time": "somebody gets in before the beginning, after the end or outside the hours of their access",
  clock: "a window is opened on a host whose clock is wrong",
  lease: "somebody gets in on a host that has heard nothing for longer than its lease",
  boot: "somebody gets in on a host that has heard nothing since it was booted",
  "went-back": "a host that has shown a later state shows an earlier one",
  "still-open": "once all is calm, somebody gets in who may not",
  "not-open": "once all is calm, somebody does not get in who may",
} as const;

export type Rule = keyof typeof RULES;

export interface Finding {
  readonly rule: Rule;
  /** The deed that must not have ended so; 0 for none. */
  readonly n: number;
  /** Deeds that say why. */
  readonly because: readonly number[];
}

type Login = Of<"login">;

/** More than this, in milliseconds, and an agent opens no window. */
const CLOCK_LIMIT = 60_000;
/** Their answers say what hosts have done. */
const CLOSINGS: readonly Done["do"][] = ["disable", "delete", "revoke"];
/** What the service adds to a lease when it says how long it may last. */
const MORE = 1.01;

/** All findings, in the order of the file. Takes time in proportion to the number of logins. */
export function judge(history: History): readonly Finding[] {
  const { start, deeds, malformed } = history;
  if (malformed.length > 0) return [{ rule: "malformed", n: 0, because: [] }];
  const registers = readRegisters(history);
  const around = readSurroundings(history);
  const evidence = openEvidence(around.restoreBefore);
  const logins = deeds.filter((deed): deed is Login => deed.do === "login" && deed.outcome !== "unknown");

  /** The last moment before which a write can no longer be what counts on this host, by answers or by what the host has shown. */
  function cutOf(writes: readonly Write[], login: Login, shown = Number.NEGATIVE_INFINITY): Cut {
    let cut: Cut = { at: Number.NEGATIVE_INFINITY, by: undefined };
    for (const write of writes) {
      const { deed } = write;
      if (deed.outcome !== "ok" || deed.invoked <= cut.at || deed.invoked > login.ended) continue;
      const isPending = deed.pending?.includes(login.host) !== false;
      const from = isPending ? (deed.by ?? Number.POSITIVE_INFINITY) : deed.ended;
      const restore = around.lostBy(deed, login.ended);
      const isKept = restore !== undefined && !isPending && deed.ended < restore.invoked;
      const until = restore === undefined ? undefined : isKept ? around.acceptedAfter(restore) : restore.invoked;
      const holds = (from < login.invoked || deed.ended < shown) && (until === undefined || until > login.ended);
      if (holds) cut = { at: deed.invoked, by: write };
    }
    return cut;
  }
  const visible = (writes: readonly Write[], login: Login, cut: Cut) =>
    writes.filter(({ deed }) => deed.invoked <= login.ended && deed.ended >= cut.at);

  /** When the registers let this login in; `beyond` is how late an end may be seen. */
  function openAt(login: Login, kept: readonly (readonly Write[])[]): readonly Span[] {
    const opened = kept.map((writes) => openBy(writes, login.host));
    return opened.reduce(
      (all, one) =>
        common(
          all,
          one.map(([from, to]): Span => [from, to + late(login, to)]),
        ),
      ALWAYS,
    );
  }
  /** By a slow clock of the host its agent is not misled, but sshd is. */
  function late({ host, ...interval }: Login, end: number): number {
    if (!Number.isFinite(end)) return 0;
    const [least] = around.clock(host, interval);
    const isWatched = around.isAgentUp(host, { invoked: end - start.settle, ended: end + start.slack });
    return start.slack + (isWatched ? 0 : Math.max(0, -least));
  }
  const fits = (login: Login, spans: readonly Span[]) =>
    spans.some(([from, to]) => from <= login.ended && to >= login.invoked);

  function letIn(login: Login): Finding | undefined {
    const found = (rule: Rule, because: readonly (number | undefined)[] = []): Finding => ({
      ...{ rule, n: login.n },
      because: because.flatMap((n) => (n === undefined || n === 0 ? [] : [n])),
    });
    const all = namesOf(login.user, login.key, login.host).map((name) => registers.get(name) ?? []);
    const none: Cut = { at: Number.NEGATIVE_INFINITY, by: undefined };
    const ever = all.map((writes) => visible(writes, login, none));
    if (ever.some((writes) => openBy(writes, login.host).length === 0)) return found("never-given");
    if (!fits(login, openAt(login, ever)))
      return found(
        "out-of-time",
        ever.flat().map(({ deed }) => deed.n),
      );
    const told = all.map((writes) => cutOf(writes, login));
    const left = all.map((writes, index) => visible(writes, login, told[index] ?? none));
    if (!fits(login, openAt(login, left))) {
      const empty = left.some((writes) => openBy(writes, login.host).length === 0);
      return found(empty ? "closed" : "out-of-time", [
        ...told.map(({ by }) => by?.deed.n),
        ...ever.flat().map(({ deed }) => deed.n),
      ]);
    }
    const shown = evidence.shown(login);
    const seen = all.map((writes) => cutOf(writes, login, shown.moment));
    const later = all.map((writes, index) => visible(writes, login, seen[index] ?? none));
    if (!fits(login, openAt(login, later))) {
      return found("went-back", [
        ...seen.map(({ by }) => by?.deed.n),
        ...ever.flat().map(({ deed }) => deed.n),
        ...shown.because,
      ]);
    }
    const unheard = wrongHost(login, left);
    if (unheard !== undefined) return found(unheard);
    if (around.calmAround(login) !== undefined && around.deafSince(login.host, login) === undefined) {
      const exact = all.map((writes) => settled(writes, login));
      if (!fits(login, openAt(login, exact)))
        return found(
          "still-open",
          ever.flat().map(({ deed }) => deed.n),
        );
    }
    // Of a write that lets in there as well, nobody has to hear: only one that does not proves that a later one has come.
    evidence.add(
      login,
      all.map((writes) =>
        visible(
          writes,
          login,
          cutOf(
            writes.filter((write) => openBy([write], login.host).length === 0),
            login,
          ),
        ),
      ),
    );
    return undefined;
  }

  /** What the host itself must not do, whatever it was told. */
  function wrongHost(login: Login, left: readonly (readonly Write[])[]): Rule | undefined {
    const since = around.deafSince(login.host, login);
    if (since !== undefined) {
      if (login.invoked > since + around.leaseAt(login.host, since) + start.slack) return "lease";
      if ((around.bootBefore(login.host, login.invoked)?.invoked ?? Number.NEGATIVE_INFINITY) >= since) return "boot";
    }
    const windows = openBy(left[2] ?? [], login.host).filter(
      ([from, to]) => from <= login.ended && to >= login.invoked,
    );
    const isUnsure = ([from]: Span) => {
      const [least, most] = around.clock(login.host, { invoked: from - start.settle, ended: login.ended });
      return least > CLOCK_LIMIT || most < -CLOCK_LIMIT;
    };
    return windows.length > 0 && windows.every((window) => Number.isFinite(window[0]) && isUnsure(window))
      ? "clock"
      : undefined;
  }

  /** What may count once every host has heard of everything. */
  function settled(writes: readonly Write[], login: Login): readonly Write[] {
    const cut = Math.max(
      ...writes.flatMap(({ deed }) =>
        deed.outcome === "ok" && deed.ended < login.invoked && around.lostBy(deed, login.ended) === undefined
          ? [deed.invoked]
          : [],
      ),
    );
    return writes.filter(
      ({ deed }) => deed.invoked <= login.ended && deed.ended >= cut && !around.isSurelyLost(deed, login.invoked),
    );
  }

  function refused(login: Login): Finding | undefined {
    const { host } = login;
    const calm = around.calmAround(login);
    const restore = around.restoreBefore(login.invoked);
    if (calm === undefined || around.deafSince(host, login) !== undefined || around.isFull(host, login))
      return undefined;
    if (restore !== undefined && !(around.acceptedAfter(restore) < calm.invoked)) return undefined;
    const all = namesOf(login.user, login.key, host).map((name) => settled(registers.get(name) ?? [], login));
    const [least, most] = around.clock(host, login);
    const isWide = ([from, to]: Span) => from + start.settle <= login.invoked && to > login.ended + start.slack;
    const lets = (write: Write) =>
      openBy([write], host).some((span) => isWide(span) && (!Number.isFinite(span[1]) || (least === 0 && most === 0)));
    // What may never have been given, or not yet, need not be there.
    const isSure = ({ deed }: Write) =>
      deed.outcome === "ok" && deed.ended < login.invoked && around.lostBy(deed, login.ended) === undefined;
    if (!all.every((writes) => writes.some(isSure) && writes.every(lets))) return undefined;
    return { rule: "not-open", n: login.n, because: [calm.n, ...all.flat().map(({ deed }) => deed.n)] };
  }

  function promises(): readonly Finding[] {
    return deeds.flatMap((deed) =>
      deed.outcome !== "ok" || isPromised(deed) ? [] : [{ rule: "promise", n: deed.n, because: [] }],
    );
  }
  function isPromised({ do: name, ended, pending, by }: Done): boolean {
    if (pending === undefined) return !CLOSINGS.includes(name);
    const longest = Math.max(...pending.map((host) => around.leaseAt(host, ended)));
    return (
      longest === Number.POSITIVE_INFINITY ||
      pending.length === 0 ||
      (by !== null && by <= ended + longest * MORE + start.slack)
    );
  }

  const found = logins.flatMap((login) => (login.outcome === "ok" ? letIn(login) : refused(login)) ?? []);
  return [...promises(), ...found].sort((one, other) => one.n - other.n);
}

/** No write that ended before `at` counts any more, because of `by`. */
interface Cut {
  readonly at: number;
  readonly by: Write | undefined;
}

interface Shown {
  /** Everything that had ended by then is done on the host. */
  readonly moment: number;
  readonly because: readonly number[];
}

const NOTHING: Shown = { moment: Number.NEGATIVE_INFINITY, because: [] };

/**
 * How far each host has come, by who got in there: hosts do everything of an answer that takes access away before anything that
 * gives it, and answers are in the order of the log.
 */
function openEvidence(
  restoreBefore: (moment: number) => { readonly invoked: number; readonly ended: number } | undefined,
) {
  const waiting = new Map<string, { readonly invoked: number; readonly ended: number; readonly shown: Shown }[]>();
  const known = new Map<string, Shown & { readonly since: number }>();
  return {
    add(login: Login, left: readonly (readonly Write[])[]): void {
      const first = (writes: readonly Write[]) =>
        writes.reduce<Write | undefined>((least, write) => {
          if (openBy([write], login.host).length === 0) return least;
          return least === undefined || write.deed.invoked < least.deed.invoked ? write : least;
        }, undefined)?.deed;
      const firsts = left.flatMap((writes) => first(writes) ?? []);
      const last = firsts.reduce((most, deed) => (deed.invoked > most.invoked ? deed : most));
      const queue = waiting.get(login.host) ?? [];
      waiting.set(login.host, queue);
      queue.push({
        invoked: login.invoked,
        ended: login.ended,
        shown: { moment: last.invoked, because: [login.n, last.n] },
      });
    },
    /** By logins that had ended when this one began, and since the last restore. */
    shown(login: Login): Shown {
      const restore = restoreBefore(login.ended);
      const queue = waiting.get(login.host) ?? [];
      let best = known.get(login.host);
      if (best !== undefined && restore !== undefined && best.since < restore.ended) best = undefined;
      const rest = queue.filter(({ invoked, ended, shown }) => {
        if (ended >= login.invoked) return true;
        const counts = restore === undefined || invoked > restore.ended;
        if (counts && shown.moment > (best?.moment ?? NOTHING.moment)) best = { ...shown, since: invoked };
        return false;
      });
      waiting.set(login.host, rest);
      if (best === undefined) known.delete(login.host);
      else known.set(login.host, best);
      return best ?? NOTHING;
    },
  };
}
