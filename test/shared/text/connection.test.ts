/** The texts that a user copies, judged by the real ssh and ssh-keygen. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "valibot";
import { sshHost } from "../../../src/config/ssh-host.ts";
import type { ServerKey } from "../../../src/protocol/host.ts";
import type { HostProfile } from "../../../src/protocol/profile.ts";
import {
  fittingCommands,
  knownHostsLines,
  type SshSite,
  sshCommand,
  sshConfig,
} from "../../../src/shared/text/connection.ts";
import { needs } from "../../support/tools.ts";

let directory: string;
let key: ServerKey;

const hasSsh = needs("ssh", "ssh-keygen");

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "uam-connection-"));
  if (!hasSsh) return;
  const path = join(directory, "host_key");
  expect(spawnSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", path]).status).toBe(0);
  const [type = "", base64 = ""] = readFileSync(`${path}.pub`, "utf8").split(" ");
  const [, fingerprint = ""] = spawnSync("ssh-keygen", ["-l", "-f", path]).stdout.toString().split(" ");
  key = { type, base64, fingerprint };
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** What ssh makes of the arguments, as option -> value. */
function understood(...argv: readonly string[]): ReadonlyMap<string, string> {
  const { status, stdout, stderr } = spawnSync("ssh", ["-G", ...argv], { encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  return new Map(
    stdout.split("\n").map((line) => [line.slice(0, line.indexOf(" ")), line.slice(line.indexOf(" ") + 1)]),
  );
}

const SITES = [
  "uam.example.org",
  "uam.example.org:2222",
  "192.0.2.7",
  "192.0.2.7:2222",
  "2001:db8::7",
  "[2001:db8::7]:2222",
  "[fe80::7%eth0]:2222",
];

/** A profile with a name. */
const profileOf = (rest: Omit<HostProfile, "name" | "secondFactor">): HostProfile => ({
  ...{ name: "some", secondFactor: "none" },
  ...rest,
});

describe.if(hasSsh).each(SITES)("for UAM_SSH_HOST=%s", (value) => {
  const site: SshSite = parse(sshHost, value);
  const target = { hostname: site.host, user: "ext_alice", port: String(site.port) };
  const shown = (options: ReadonlyMap<string, string>) => ({
    hostname: options.get("hostname"),
    user: options.get("user"),
    port: options.get("port"),
  });

  test("sshCommand() leads to the host, the account and the port", () => {
    const [program, ...argv] = sshCommand(site, "alice").split(" ");
    expect(program).toBe("ssh");
    expect(argv.includes("-p")).toBe(site.port !== 22);
    expect(shown(understood("-F", "none", ...argv))).toEqual(target);
  });

  test("fittingCommands() opens one connection for each target of a profile that allows no more, and to the same place", () => {
    const targets = ["db1.example.org:5432", "web:80", "[2001:db8::9]:443"];
    const commands = fittingCommands(profileOf({ kind: "forward", targets }), site, "alice");
    const read = commands.map((each) => understood("-F", "none", ...each.replaceAll("'", "").split(" ").slice(1)));
    expect(read.map(shown)).toEqual([target, target, target]);
    expect(read.map((each) => each.get("localforward"))).toEqual([
      "5432 [db1.example.org]:5432",
      "8080 [web]:80",
      "8443 [2001:db8::9]:443",
    ]);
    expect(commands.every((each) => each.startsWith("ssh -N -L "))).toBe(true);
  });

  test("sshConfig() makes `ssh HOST` lead there", () => {
    const path = join(directory, "config");
    writeFileSync(path, `${sshConfig(site, "alice")}\n`, { mode: 0o600 });
    expect(shown(understood("-F", path, site.host))).toEqual(target);
    expect(understood("-F", path, "elsewhere.example.org").get("user")).not.toBe("ext_alice");
  });

  test("knownHostsLines() are found under the name that ssh looks up", () => {
    const path = join(directory, "known_hosts");
    writeFileSync(path, `${knownHostsLines(site, [key]).join("\n")}\n`);
    const name = site.port === 22 ? site.host : `[${site.host}]:${site.port}`;
    const found = spawnSync("ssh-keygen", ["-l", "-F", name, "-f", path], { encoding: "utf8" });
    expect([found.status, found.stdout]).toEqual([0, expect.stringContaining(key.fingerprint)]);
  });
});

test.if(hasSsh)("the texts are as in the manual", () => {
  const site = { host: "uam.example.org", port: 2222 };
  expect(sshCommand(site, "alice")).toBe("ssh -p 2222 ext_alice@uam.example.org");
  expect(sshCommand({ ...site, port: 22 }, "alice")).toBe("ssh ext_alice@uam.example.org");
  expect(sshConfig(site, "alice")).toBe(
    "Host uam.example.org\n  HostName uam.example.org\n  User ext_alice\n  Port 2222",
  );
  expect(knownHostsLines(site, [key])).toEqual([`[uam.example.org]:2222 ssh-ed25519 ${key.base64}`]);
  expect(knownHostsLines(site, [])).toEqual([]);
  expect(fittingCommands(undefined, site, "alice")).toEqual(["ssh -p 2222 ext_alice@uam.example.org"]);
  const command = profileOf({ kind: "command", command: "deploy" });
  expect(fittingCommands(command, site, "alice")).toEqual(["ssh -p 2222 ext_alice@uam.example.org"]);
  const sftp = profileOf({ kind: "sftp", directory: "/data/acme" });
  expect(fittingCommands(sftp, site, "alice")).toEqual(["sftp -P 2222 ext_alice@uam.example.org"]);
  expect(fittingCommands(sftp, { host: "2001:db8::7", port: 22 }, "alice")).toEqual(["sftp 'ext_alice@[2001:db8::7]'"]);
});
