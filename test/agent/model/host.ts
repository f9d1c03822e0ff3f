/** The model's host: accounts, key files and sessions in memory, as sshd would read them, behind the interface of src/host. */

import type { Moment } from "../../../src/agent/lease.ts";
import type { Account, AccountRef, Host } from "../../../src/protocol/host.ts";
import { type Login, reaches } from "./service.ts";

interface Line {
  readonly fingerprint: string;
  readonly networks: readonly string[] | undefined;
  /** `expiry-time=`, by the host's clock. */
  readonly until: number;
}

interface Present {
  readonly uid: number;
  isOpen: boolean;
  lines: readonly Line[];
}

/** A login that is open. */
export interface Session extends Login {
  readonly uid: number;
}

/** When the agent's process dies, and what fails on the host. */
export interface Luck {
  /** Steps on the host until the process is killed. */
  stepsLeft: number;
  fails(): boolean;
}

export class ModelHost {
  readonly accounts = new Map<string, Present>();
  sessions: readonly Session[] = [];
  /** Whether the link that sshd needs is there. */
  isLinked = false;
  readonly #now: () => Moment;
  readonly #luck: Luck;

  constructor(now: () => Moment, luck: Luck) {
    this.#now = now;
    this.#luck = luck;
  }

  /** Whether sshd lets this login in now. */
  admits({ name, fingerprint, from }: Login): boolean {
    const account = this.accounts.get(name);
    if (!this.isLinked || account === undefined || !account.isOpen) return false;
    const now = this.#now().wall * 1000;
    return account.lines.some((line) => line.fingerprint === fingerprint && reaches(line, from) && now < line.until);
  }

  /** Whether its key is in the file of an open account. */
  holds({ name, fingerprint, from }: Login): boolean {
    const account = this.accounts.get(name);
    return (
      account?.isOpen === true && account.lines.some((line) => line.fingerprint === fingerprint && reaches(line, from))
    );
  }

  /** False once the process has died: then nothing of the step happens. Throws where the host refuses it. */
  #step(): boolean {
    if (this.#luck.stepsLeft <= 0) return false;
    this.#luck.stepsLeft--;
    if (this.#luck.fails()) throw new Error("the host refuses it");
    return true;
  }

  #write(account: Account): void {
    const present = this.accounts.get(account.name);
    if (present === undefined) return;
    const until = account.expireAt.getTime();
    present.lines = account.keys.map(({ fingerprint, networks }) => ({ fingerprint, networks, until }));
  }

  /** With a key that is not stored its sessions end, too; one that dies between the two is not in the model. */
  #repair(account: Account): void {
    const present = this.accounts.get(account.name);
    if (present === undefined) return;
    const known = new Set(account.keys.map(({ fingerprint }) => fingerprint));
    if (present.lines.some(({ fingerprint }) => !known.has(fingerprint)))
      this.#end((session) => session.uid === account.uid && !known.has(session.fingerprint));
    this.#write(account);
    present.isOpen = true;
  }

  #end(isEnded: (session: Session) => boolean): void {
    this.sessions = this.sessions.filter((session) => !isEnded(session));
  }

  #shut({ name, uid }: AccountRef): void {
    const present = this.accounts.get(name);
    if (present?.uid !== uid) return;
    present.isOpen = false;
    present.lines = [];
    this.#end((session) => session.uid === uid);
  }

  /** What src/agent calls, and nothing else of the interface. */
  readonly asHost = this.#asHost();

  #asHost(): Host {
    const has = ({ name, uid }: AccountRef) => this.accounts.get(name)?.uid === uid;
    const done = { refused: true, owed: [] };
    const host: Partial<Host> = {
      presence: async (account) => {
        if (has(account)) return "present";
        const isTaken =
          this.accounts.has(account.name) || this.accounts.values().some(({ uid }) => uid === account.uid);
        return isTaken ? "foreign" : "missing";
      },
      lacking: async () => undefined,
      foreignKeys: async ({ name }) => {
        const account = this.accounts.get(name);
        return account?.isOpen === true && account.lines.length > 0 ? ["somebody's key file lets them in"] : [];
      },
      findAccount: async (name) => {
        const account = this.accounts.get(name);
        return account && { name, uid: account.uid };
      },
      endStrays: async (uids) => {
        if (this.#step()) this.#end(({ uid }) => uids.includes(uid));
        return [];
      },
      createAccount: async (account) => {
        if (this.#step()) this.accounts.set(account.name, { uid: account.uid, isOpen: true, lines: [] });
      },
      openAccount: async (account) => {
        if (!this.#step()) return;
        this.#write(account);
        if (!this.#step()) return;
        const present = this.accounts.get(account.name);
        if (present !== undefined) present.isOpen = true;
      },
      shutAccount: async (account) => {
        if (this.#step()) this.#shut(account);
        return done;
      },
      takeKey: async (account, fingerprint) => {
        if (this.#step()) this.#write(account);
        if (this.#step()) this.#end((session) => session.uid === account.uid && session.fingerprint === fingerprint);
        return { rewritten: true, owed: [] };
      },
      narrowKeys: async (account) => {
        if (this.#step()) this.#write(account);
        const isInside = ({ fingerprint, from }: Session) =>
          account.keys.some((key) => key.fingerprint === fingerprint && reaches(key, from));
        if (this.#step()) this.#end((session) => session.uid === account.uid && !isInside(session));
        return [];
      },
      removeAccount: async (account) => {
        if (this.#step()) this.#shut(account);
        if (this.#step() && has(account)) this.accounts.delete(account.name);
        return done;
      },
      reconcile: async (accounts) => {
        for (const account of accounts) {
          if (!has(account) || !this.#step()) continue;
          if (account.open) this.#repair(account);
          else this.#shut(account);
        }
        return [];
      },
    };
    return host as Host;
  }
}
