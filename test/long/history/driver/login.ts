/** A login at a host of the history, by sshd's own rules (sshd(8), AUTHORIZED_KEYS FILE FORMAT; sshd_config(5), RevokedKeys). */

import { existsSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import type { Places } from "./places.ts";

interface Account {
  readonly open: boolean;
  /** Its key file. */
  readonly text: string;
}

/** Whether sshd would let the account in with this key now, from the loopback address. */
export function isLetIn(places: Places, name: string, key: string): boolean {
  // Who reads the list before the key file and after it has seen both at one moment in between.
  return hasList(places) && hasKey(places, name, key) && hasList(places);
}

/** sshd refuses every key if it cannot read its list of revoked keys. */
function hasList({ files }: Places): boolean {
  try {
    const link = join(files.directory, "revoked-keys");
    return readlinkSync(link) === files.target && existsSync(link);
  } catch {
    return false;
  }
}

function hasKey({ host, skew }: Places, name: string, key: string): boolean {
  let accounts: Readonly<Record<string, Account>>;
  try {
    accounts = JSON.parse(readFileSync(host, "utf8"));
  } catch {
    return false;
  }
  const account = accounts[name];
  if (account === undefined || !account.open) return false;
  const now = Date.now() + Number(readFileSync(skew, "utf8"));
  return account.text.split("\n").some((line) => {
    const { options, blob } = parsed(line);
    return blob === key && isInTime(options, now) && isFromHere(options);
  });
}

/** Options are separated by commas, and end with the first blank outside of quotes. */
function parsed(line: string): { readonly options: string; readonly blob: string | undefined } {
  const [, options = "", rest = ""] = /^((?:"[^"]*"|[^\s"])*)\s+(.*)$/.exec(line) ?? [];
  const isType = /^(?:ssh|ecdsa|sk)-/.test(options);
  return { options: isType ? "" : options, blob: (isType ? rest : rest.replace(/^\S+\s+/, "")).split(/\s/)[0] };
}

/** sshd refuses a key whose expiry-time is before the present second. */
function isInTime(options: string, now: number): boolean {
  const [, y, m, d, h, min, s] = /expiry-time="(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z"/.exec(options) ?? [];
  if (y === undefined) return true;
  return (
    Date.UTC(Number(y), Number(m) - 1, Number(d), Number(h), Number(min), Number(s)) >= Math.floor(now / 1000) * 1000
  );
}

function isFromHere(options: string): boolean {
  const [, networks] = /from="([^"]*)"/.exec(options) ?? [];
  return networks === undefined || networks.split(",").some((network) => network.startsWith("127."));
}
