/**
 * One service, one host, and everything that can happen to them, drawn at random: changes, lost and late messages, kills in the middle, boots,
 * disks that are set back, clocks, restores. After each step the promises of docs/fleet-protocol.md are checked against what sshd would do.
 */

import type { HostState } from "../../../src/protocol/fleet.ts";
import type { HostKey } from "../../../src/protocol/host.ts";
import { ModelAgent, type Report, type Request, type Rules } from "./agent.ts";
import { ModelHost, type Session } from "./host.ts";
import {
  answerTo,
  cursorOf,
  type Data,
  isAllowed,
  type Login,
  placeOf,
  reaches,
  recorded,
  type Stored,
} from "./service.ts";

/** What keeps the promises, as far as it is the service's. */
export interface ServiceRules {
  /** By how much more the service counts a lease than the agent does. */
  readonly tolerance: number;
  /** Whether answers are cautious once the history went back. */
  readonly isCautious: boolean;
  /** Whether a host that stays open for longer than its lease is taken at its word. */
  readonly believesHeld: boolean;
  /** Whether a restore lets every host's lease count as granted just now. */
  readonly extendsLeases: boolean;
}

export const SERVICE_RULES: ServiceRules = {
  tolerance: 1.01,
  isCautious: true,
  believesHeld: true,
  extendsLeases: true,
};

/** A promise that was broken. */
export interface Violation {
  readonly promise: "closed" | "stays closed" | "hours" | "session" | "converges";
  readonly text: string;
}

const SECOND = 1000;
const EPOCH = Date.parse("2026-11-27T08:00:00Z");
/** How often the second enforcer looks. */
const ENFORCED = 15;
const LEASES = [1200, 600, 300].map((seconds) => seconds * SECOND);
const NAMES = ["ext_ada", "ext_bob"];
const FIRST_UID = 70_000;
const KEYS = [1, 2].map((id) => ({ id, type: "ssh-ed25519", base64: `AAAA${id}`, fingerprint: `SHA256:${id}` }));
const NETWORKS = ["192.0.2.0/24", "198.51.100.0/24"];
const LOGINS: readonly Login[] = NAMES.flatMap((name) =>
  KEYS.flatMap(({ fingerprint }) => NETWORKS.map((from) => ({ name, fingerprint, from }))),
);

/** What the service has promised about one login. */
interface Promised {
  /** From then on the host refuses it, by the answer to the change that took it away; undefined while nothing did. */
  due: number | undefined;
  /** The cursor of that change, which ends its sessions once the host has confirmed it. */
  cursor: string;
  isConfirmed: boolean;
  /** Whether the agent has heard of it. */
  isTold: boolean;
  /** Whether the host has shut it since. */
  isShut: boolean;
  /** When the stored state last allowed it. */
  allowedAt: number;
  /** From then on the newest change to its account is true on the host, whatever it is. */
  toldBy: number;
  toldWith: string;
}

/** A message under way. */
type Message =
  | { readonly kind: "asked"; readonly request: Request; readonly confirms: Report | undefined }
  | { readonly kind: "admitted"; readonly request: Request }
  | { readonly kind: "answered"; readonly request: Request; readonly answer: HostState };

/** How often it happens, among all; its name; and what happens. */
type Deed = readonly [number, string, () => Promise<unknown> | unknown];

export class World {
  readonly #random: () => number;
  readonly #service: ServiceRules;
  readonly #host: ModelHost;
  readonly #agent: ModelAgent;
  readonly #luck: { stepsLeft: number; fails: () => boolean };
  readonly #promised = new Map<Login, Promised>(
    LOGINS.map((login) => [
      login,
      {
        due: undefined,
        cursor: "",
        isConfirmed: false,
        isTold: false,
        isShut: false,
        allowedAt: Number.NEGATIVE_INFINITY,
        toldBy: 0,
        toldWith: "",
      },
    ]),
  );
  /** The true time, which is the service's, in milliseconds. */
  #time = EPOCH;
  /** How fast the host's clocks run, which nobody has told it. */
  readonly #rate: number;
  readonly #deeds: readonly Deed[];
  readonly #total: number;
  #boot = 0;
  /** What the host's wall clock is ahead by, in milliseconds. */
  #ahead = 0;
  #data: Data;
  #backup: Data;
  #oldDisk: ModelAgent["disk"];
  #messages: Message[] = [];
  #seals = 0;
  #failing = 0;
  #isRestored = false;
  #admitted = 0;
  /** Of this one, what has happened: shown with a violation. */
  readonly story: string[] = [];

  constructor(random: () => number, rules: Rules, service: ServiceRules) {
    this.#random = random;
    this.#service = service;
    this.#rate = 1 + (random() - 0.5) * 0.01;
    this.#luck = { stepsLeft: Number.POSITIVE_INFINITY, fails: () => random() < this.#failing };
    const now = () => ({ boot: this.#boot / SECOND, wall: (this.#time + this.#ahead) / SECOND });
    this.#host = new ModelHost(now, this.#luck);
    this.#agent = new ModelAgent({ now, host: this.#host, luck: this.#luck, rules });
    this.#data = {
      ...{ seals: [], accounts: new Map(), removed: [], status: "active", lease: LEASES[0] ?? 0 },
      ...{ leaseUntil: EPOCH, applied: 0, diverged: false, nextUid: FIRST_UID },
    };
    this.#backup = this.#data;
    this.#deeds = this.#allDeeds();
    this.#total = this.#deeds.reduce((sum, [weight]) => sum + weight, 0);
  }

  /** One thing happens, and all promises are checked. */
  async step(): Promise<Violation | undefined> {
    const [, name, act] = this.#draw();
    this.story.push(`${((this.#time - EPOCH) / SECOND).toFixed(0)} s: ${name}`);
    if (this.story.length > 200) this.story.shift();
    await act();
    return this.#check();
  }

  /** Without any further trouble the host comes to be as the service has it. */
  async settle(): Promise<Violation | undefined> {
    this.#failing = 0;
    this.#ahead = 0;
    this.#luck.stepsLeft = Number.POSITIVE_INFINITY;
    this.#messages = [];
    this.#accept();
    // A backup from between a restore and its acceptance does not know what the host was told meanwhile: until the next change to them, users stay
    // as restrained as that was. This is the next change.
    if (this.#isRestored) this.#commit({});
    for (let round = 0; round < 4; round++) {
      if (!this.#agent.isRunning) await this.#agent.start();
      this.#ask();
      while (this.#messages.length > 0) await this.#pass(0);
      await this.#agent.tick();
      await this.#agent.retry();
      await this.#agent.reconcile();
      this.#accept();
      const broken = this.#advance(1) ?? this.#check();
      if (broken !== undefined) return broken;
    }
    for (const login of LOGINS) {
      const account = this.#data.accounts.get(login.name);
      const isWanted = (at: number) => isAllowed(account, this.#data.status, login, at);
      const admits = this.#host.admits(login);
      // But for what the clocks differ by.
      const isWrong = admits
        ? !this.#isNearlyAllowed(login, this.#promised.get(login)?.allowedAt ?? 0)
        : isWanted(this.#time) && isWanted(this.#time - 20 * SECOND);
      if (isWrong && !this.#agent.problems().has(login.name) && !this.#isForeign(login.name)) {
        return { promise: "converges", text: `${textOf(login)} is ${admits ? "let in" : "refused"} when all is quiet` };
      }
    }
    return undefined;
  }

  /** A uid that the service gave out again after a restore, or a name whose older account is still there. */
  #isForeign(name: string): boolean {
    const uid = this.#data.accounts.get(name)?.uid;
    const present = this.#host.accounts.get(name);
    const isTaken = this.#host.accounts.entries().some(([other, { uid: its }]) => other !== name && its === uid);
    return isTaken || (present !== undefined && present.uid !== uid);
  }

  #draw(): Deed {
    let left = this.#random() * this.#total;
    for (const deed of this.#deeds) {
      left -= deed[0];
      if (left < 0) return deed;
    }
    throw new Error("the weights do not add up");
  }

  #allDeeds(): readonly Deed[] {
    const agent = this.#agent;
    return [
      [20, "time goes by", () => this.#advance(this.#one([1, 5, 20, 60, 200]))],
      [14, "a change", () => this.#change()],
      [12, "the agent asks", () => this.#ask()],
      [22, "a message goes on", () => this.#pass(Math.floor(this.#random() * this.#messages.length))],
      [2, "messages are lost", () => this.#lose()],
      [5, "people log in", () => this.#logIn()],
      [5, "the agent ticks", () => agent.tick()],
      [3, "the agent compares", () => agent.reconcile()],
      [2, "the agent tries again", () => agent.retry()],
      [1.5, "the agent is to die soon", () => this.#dieSoon()],
      [0.5, "the agent is killed", () => agent.kill()],
      [7, "the agent starts", () => agent.isRunning || agent.start()],
      [0.6, "the host boots", () => this.#bootHost()],
      [0.8, "the host's clock is set", () => this.#setClock()],
      [0.6, "the host begins or ceases to fail", () => this.#failOrNot()],
      ...this.#losses(),
    ];
  }

  /** Of an account that both have lost nobody knows whose it is: it is left alone, and named. So only one of them loses anything. */
  #losses(): readonly Deed[] {
    if (this.#random() < 0.5)
      return [
        [2.5, "a copy of the agent's disk is made", () => this.#copyDisk()],
        [1.5, "the agent's disk is set back", () => this.#setDiskBack()],
      ];
    return [
      [1.4, "a backup is made", () => this.#makeBackup()],
      [1, "the backup is restored", () => this.#restore()],
      [1.6, "an administrator accepts", () => this.#accept()],
    ];
  }

  /** True time passes, in steps in which the second enforcer looks. */
  #advance(seconds: number): Violation | undefined {
    for (let left = seconds; left > 0; left -= ENFORCED) {
      const step = Math.min(left, ENFORCED) * SECOND;
      this.#time += step;
      this.#boot += step * this.#rate;
      this.#ahead += step * (this.#rate - 1);
      this.#agent.enforce();
      const broken = this.#check();
      if (broken !== undefined) return broken;
    }
    return undefined;
  }

  #change(): void {
    const name = this.#one(NAMES);
    const before = this.#data.accounts.get(name);
    const chance = this.#random();
    if (chance < 0.04) {
      const lease = LEASES[LEASES.indexOf(this.#data.lease) + 1];
      if (lease !== undefined) this.#commit({ lease });
    } else if (chance < 0.1) this.#commit({ status: this.#data.status === "active" ? "locked" : "active" });
    else if (before !== undefined && chance < 0.18) this.#remove(before);
    else this.#store(this.#changed(name, before));
  }

  /** The account, with one thing about it changed at random. */
  #changed(name: string, before: Stored | undefined): Omit<Stored, "record"> {
    if (before === undefined) {
      const expire_at = this.#text(this.#one([400, 1500, 20_000]));
      return { name, uid: this.#data.nextUid, open: true, expire_at, keys: this.#random() < 0.5 ? [] : [key(0)] };
    }
    const keys = before.keys.filter(({ id }) => id !== 1);
    const other = before.keys.filter(({ id }) => id !== 2);
    const { hours: _, ...always } = before;
    return this.#one<() => Omit<Stored, "record">>([
      () => ({ ...before, open: !before.open }),
      () => ({ ...before, keys: keys.length < before.keys.length ? keys : [...keys, key(0)] }),
      () => ({ ...before, keys: other.length < before.keys.length ? other : [...other, key(1)] }),
      () => ({ ...before, keys: before.keys.map((one) => this.#limited(one)) }),
      () => ({ ...before, expire_at: this.#text(this.#one([30, 400, 1500, 20_000])) }),
      () => ({ ...before, hours: this.#hours() }),
      () => always,
    ])();
  }

  #limited({ networks: _, ...any }: HostKey): HostKey {
    const chance = this.#random();
    return chance < 0.3 ? any : { ...any, networks: chance < 0.6 ? NETWORKS : [this.#one(NETWORKS)] };
  }

  /** Two windows, and what lies between them is shut. */
  #hours(): NonNullable<Stored["hours"]> {
    const from = this.#one([-100, 20, 200, 1500]);
    const window = (start: number, length: number) => ({ from: this.#text(start), to: this.#text(start + length) });
    return { until: this.#text(100_000), windows: [window(from, 300), window(from + 700, 400)] };
  }

  #text(seconds: number): string {
    return new Date(this.#time + seconds * SECOND).toISOString();
  }

  #store(account: Omit<Stored, "record">): void {
    const record = this.#data.seals.length + 1;
    const accounts = new Map(this.#data.accounts).set(account.name, { ...account, record });
    this.#commit({ accounts, nextUid: Math.max(this.#data.nextUid, account.uid + 1) });
  }

  #remove({ name, uid }: Stored): void {
    const accounts = new Map(this.#data.accounts);
    accounts.delete(name);
    const record = this.#data.seals.length + 1;
    this.#commit({ accounts, removed: [...this.#data.removed, { name, uid, record }] });
  }

  #commit(change: Partial<Data>): void {
    const before = this.#data;
    const isAboutHost = change.accounts === undefined;
    this.#data = recorded(before, `${++this.#seals}`, change);
    // All of the host's accounts are told again.
    if (isAboutHost) {
      const record = this.#data.seals.length;
      const accounts = new Map([...this.#data.accounts].map(([name, account]) => [name, { ...account, record }]));
      this.#data = { ...this.#data, accounts };
    }
    for (const [login, promised] of this.#promised) {
      if (before.accounts.get(login.name) !== this.#data.accounts.get(login.name)) this.#isToldLater(promised);
      const could = isAllowedSometime(before, login);
      const can = isAllowedSometime(this.#data, login);
      if (can && !could) promised.due = undefined;
      if (could && !can) {
        promised.due = Math.max(this.#time, this.#data.leaseUntil);
        promised.cursor = cursorOf(this.#data);
        promised.isConfirmed = false;
        promised.isTold = false;
        promised.isShut = false;
      }
    }
  }

  #isToldLater(promised: Promised): void {
    promised.toldBy = Math.max(this.#time, this.#data.leaseUntil);
    promised.toldWith = cursorOf(this.#data);
  }

  #ask(): void {
    if (!this.#agent.isRunning) return;
    const confirms = this.#agent.report();
    this.#messages.push({ kind: "asked", request: this.#agent.ask(), confirms });
  }

  async #pass(at: number): Promise<void> {
    const [message] = this.#messages.splice(at, 1);
    if (message?.kind === "asked") this.#admit(message);
    else if (message?.kind === "admitted") this.#answer(message);
    else if (message?.kind === "answered") await this.#agent.receive(message.request, message.answer);
  }

  #admit({ request, confirms }: Extract<Message, { kind: "asked" }>): void {
    if (request.counter <= this.#admitted) return;
    this.#admitted = request.counter;
    const held = this.#service.believesHeld ? request.held * SECOND : 0;
    const length = Math.max(this.#data.lease, held) * this.#service.tolerance;
    this.#data = { ...this.#data, leaseUntil: this.#time + length };
    if (confirms !== undefined) this.#confirm(confirms);
    this.#messages.push({ kind: "admitted", request });
  }

  /** Only what belongs to this history counts. */
  #confirm({ cursor, refused }: Report): void {
    const place = placeOf(this.#data, cursor);
    if (place === undefined) return;
    this.#data = { ...this.#data, applied: Math.max(place, this.#data.applied) };
    for (const [login, promised] of this.#promised) {
      const told = placeOf(this.#data, promised.toldWith);
      if (told !== undefined && told <= place && !refused.has(login.name))
        promised.toldBy = Math.min(promised.toldBy, this.#time);
      const since = promised.due === undefined ? undefined : placeOf(this.#data, promised.cursor);
      if (since === undefined || since > place || refused.has(login.name)) continue;
      promised.due = Math.min(promised.due ?? this.#time, this.#time);
      promised.isConfirmed = true;
    }
  }

  /** The answer is made later than the lease was granted, from what is stored by then. */
  #answer({ request }: Extract<Message, { kind: "admitted" }>): void {
    const { data, answer } = answerTo(this.#data, request.since, this.#time);
    this.#data = data;
    const told = this.#service.isCautious ? answer : { ...answer, cautious: false };
    // A longer lease than the one that was granted with the request comes with the next answer; there is none here.
    this.#messages.push({ kind: "answered", request, answer: told });
  }

  #lose(): void {
    this.#messages.splice(Math.floor(this.#random() * this.#messages.length), 1);
    if (this.#random() < 0.3) this.#messages = [];
  }

  #logIn(): void {
    const begun = LOGINS.filter((login) => this.#host.admits(login) && this.#random() < 0.5);
    const sessions = begun.map((login) => ({ ...login, uid: this.#host.accounts.get(login.name)?.uid ?? 0 }));
    this.#host.sessions = [...this.#host.sessions.slice(-20), ...sessions];
  }

  #dieSoon(): void {
    if (this.#agent.isRunning) this.#luck.stepsLeft = Math.floor(this.#random() * 8);
  }

  #bootHost(): void {
    this.#boot = 0;
    this.#host.sessions = [];
    this.#luck.stepsLeft = Number.POSITIVE_INFINITY;
    this.#agent.boot();
  }

  #setClock(): void {
    this.#ahead = this.#one([0, 0, 30, -30, 300, -300, 90_000, -90_000]) * SECOND;
    this.#agent.enforce();
  }

  #failOrNot(): void {
    this.#failing = this.#failing > 0 ? 0 : 0.2;
  }

  #makeBackup(): void {
    this.#backup = this.#data;
  }

  #copyDisk(): void {
    this.#oldDisk = this.#agent.disk;
  }

  #setDiskBack(): void {
    if (this.#random() < 0.5) this.#bootHost();
    else this.#agent.kill();
    this.#agent.disk = this.#oldDisk;
  }

  /** A database of before, and the leases that hosts may have since. */
  #restore(): void {
    this.#isRestored = true;
    const { leaseUntil } = this.#backup;
    const extended = Math.max(leaseUntil, this.#time + this.#backup.lease * this.#service.tolerance);
    // What was asked of the service before is answered by none.
    this.#messages = this.#messages.filter(({ kind }) => kind === "answered");
    this.#data = { ...this.#backup, leaseUntil: this.#service.extendsLeases ? extended : leaseUntil };
    for (const promised of this.#promised.values()) {
      // Nobody has it any more: neither the database nor the host.
      if (!promised.isTold && placeOf(this.#data, promised.cursor) === undefined) promised.due = undefined;
      this.#isToldLater(promised);
    }
  }

  /** From then on the restored history counts, with what it allows. */
  #accept(): void {
    if (!this.#data.diverged) return;
    this.#commit({ diverged: false });
    for (const [login, promised] of this.#promised) {
      if (isAllowedSometime(this.#data, login)) promised.due = undefined;
    }
  }

  #check(): Violation | undefined {
    const { status } = this.#data;
    for (const [login, promised] of this.#promised) {
      const account = this.#data.accounts.get(login.name);
      if (isAllowed(account, status, login, this.#time)) promised.allowedAt = this.#time;
      const { due, isConfirmed, allowedAt } = promised;
      if (due === undefined && allowedAt === this.#time) continue;
      const admits = this.#host.admits(login);
      if (admits && due !== undefined && this.#time >= due)
        return { promise: "closed", text: `${textOf(login)} is let in after it was taken away` };
      if (admits && !this.#isNearlyAllowed(login, allowedAt))
        return { promise: "hours", text: `${textOf(login)} is let in at a time when it may not` };
      const isThere = this.#host.holds(login);
      if (due !== undefined && isThere && promised.isShut)
        return { promise: "stays closed", text: `${textOf(login)} is in the key file again after it was taken away` };
      promised.isTold ||= this.#hasHeard(promised);
      promised.isShut = due !== undefined && (promised.isShut || (!isThere && promised.isTold));
      const isOpen = (session: Session) => sameLogin(session, login);
      if (due !== undefined && isConfirmed && this.#host.sessions.some(isOpen))
        return { promise: "session", text: `a session of ${textOf(login)} goes on after the host confirmed its end` };
    }
    return undefined;
  }

  /** Whether the agent knows of the change that took the login away. */
  #hasHeard({ cursor }: Promised): boolean {
    const known = placeOf(this.#data, this.#agent.heard);
    const place = placeOf(this.#data, cursor);
    return known !== undefined && place !== undefined && place <= known;
  }

  /** By how much the clocks of the host may differ without anybody noticing: what their rates make in the longest lease, and its own set back. */
  #isNearlyAllowed(login: Login, allowedAt: number): boolean {
    const tolerance = 20 * SECOND;
    if (this.#time - allowedAt <= tolerance + Math.max(0, -this.#ahead)) return true;
    const { status } = this.#data;
    const account = this.#data.accounts.get(login.name);
    if (isAllowed(account, status, login, this.#time + tolerance)) return true;
    // What was changed has not come there: as with any other change, its lease ends it.
    return this.#time < (this.#promised.get(login)?.toldBy ?? 0);
  }

  #one<T>(values: readonly T[]): T {
    return values[Math.floor(this.#random() * values.length)] as T;
  }
}

/** Whether the stored state allows it but for the time. */
function isAllowedSometime({ accounts, status }: Data, { name, fingerprint, from }: Login): boolean {
  const account = accounts.get(name);
  if (account?.open !== true || status !== "active") return false;
  return account.keys.some((one) => one.fingerprint === fingerprint && reaches(one, from));
}

function key(at: number): HostKey {
  return KEYS[at] as HostKey;
}

function textOf({ name, fingerprint, from }: Login): string {
  return `${name} with ${fingerprint} from ${from}`;
}

function sameLogin(one: Login, other: Login): boolean {
  return one.name === other.name && one.fingerprint === other.fingerprint && one.from === other.from;
}
