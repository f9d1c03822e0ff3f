/** A real sshd refuses logins for one cause after the other: each is found on the host, and each in a real journal, in sshd's words. */

import { describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bunRuntime } from "../../src/runtime/bun.ts";
import { base, directHost, keysPath, NAME, prepareHost, run, sshd, stored } from "../support/direct-host.ts";
import { describeOnHost } from "../support/host-account.ts";
import { hasJournald, withJournald } from "../support/journald.ts";
import { freePort } from "../support/port.ts";

const READER = join(import.meta.dir, "../support/refusal-reader.ts");

describeOnHost(
  "logins that sshd refuses",
  () => {
    prepareHost();
    let keys = 60;

    /** An open account with a key, and what the host then has against a login. */
    const opened = async () => {
      const { path, key } = sshd.makeKey(++keys);
      const account = stored({ keys: [key] });
      const host = await directHost();
      await host.createAccount(account);
      await host.openAccount(account);
      const reasons = async () => (await host.loginFaults(account)).map(({ reason, blocks }) => [reason, blocks]);
      return { host, account, path, key, reasons, letsIn: () => sshd.login(NAME, path) };
    };

    describe("loginFaults()", () => {
      test("agrees with sshd about each cause, and finds none where it lets them in", async () => {
        const { host, account, reasons, letsIn } = await opened();
        expect([letsIn(), await reasons()]).toEqual([true, []]);
        run("usermod", "-e", "1", NAME);
        expect([letsIn(), await reasons()]).toEqual([false, [["account_locked", true]]]);
        await host.openAccount(account);
        run("usermod", "-s", "/nonexistent/shell", NAME);
        expect([letsIn(), await reasons()]).toEqual([false, [["shell", true]]]);
        run("usermod", "-s", "/bin/bash", NAME);
        chmodSync(join(base, NAME), 0o777);
        expect([letsIn(), await reasons()]).toEqual([false, [["home", true]]]);
        chmodSync(join(base, NAME), 0o700);
        writeFileSync(keysPath(), "");
        expect([letsIn(), await reasons()]).toEqual([false, [["key_file", true]]]);
        await host.openAccount(account);
        expect([letsIn(), await reasons()]).toEqual([true, []]);
        run("userdel", "-f", "--", NAME);
        expect(await reasons()).toEqual([["account_missing", true]]);
      });

      test.each([
        ["DenyUsers ext_t*", "sshd's DenyUsers names"],
        ["AllowUsers root", "sshd's AllowUsers does not name"],
        ["AllowGroups root", "sshd's AllowGroups does not name a group of"],
        ["PubkeyAuthentication no", "PubkeyAuthentication is off"],
        ["RevokedKeys /nonexistent/revoked", "/nonexistent/revoked (RevokedKeys) is missing"],
      ])("names what sshd's own settings refuse: %s", async (line, said) => {
        const { account } = await opened();
        const config = join(base, "refusing_config");
        writeFileSync(config, `${line}\nHostKey ${join(base, "host_key")}\nUsePAM no\n`);
        const host = await directHost({ tools: { sshdConfig: config } });
        const faults = await host.loginFaults(account);
        expect(faults.filter(({ reason, blocks }) => reason === "sshd" && blocks)).toEqual([
          { reason: "sshd", text: expect.stringContaining(said), remedy: expect.any(String), blocks: true },
        ]);
      });
    });

    describe("refusals()", () => {
      test("quotes sshd for each cause, and not what strangers and the account's owner wrote", async () => {
        const { path, key, host, account } = await opened();
        const directory = join(base, "refusals");
        mkdirSync(directory);
        const other = sshd.makeKey(++keys);
        const port = await freePort();
        const options = `-F none -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o IdentitiesOnly=yes -p ${port}`;
        const login = (name: string, with_ = path) =>
          `ssh ${options} -i ${with_} '${name}'@127.0.0.1 true 2> /dev/null || true`;
        /** Returns once the log has so many lines with that: the sshd of a login says its last words when its client has ended. */
        const logged = (text: string, lines: number) =>
          `for attempt in $(seq 1200); do [ "$(journalctl -q | grep -c '${text}')" -ge ${lines} ] && break; sleep 0.05; done`;
        const refused = `Connection closed by authenticating user ${NAME} 127`;
        const forged = `Connection closed by authenticating user ${NAME} 192.0.2.66 port 1 [preauth]`;
        const keyFile = (prefix: string) => `printf '%s\\n' '${prefix}${key.type} ${key.base64}' > ${keysPath()}; `;
        const printed = withJournald(
          directory,
          `
sed "s/^Port .*/Port ${port}/" ${sshd.config} > "$DIRECTORY/sshd_config"
/usr/sbin/sshd -D -f "$DIRECTORY/sshd_config" &
server=$!
for attempt in $(seq 1200); do ssh-keyscan -T 1 -p ${port} 127.0.0.1 2> /dev/null | grep -q ed25519 && break; sleep 0.05; done
setpriv --reuid ${account.uid} --regid ${account.uid} --clear-groups -- logger -t sshd '${forged}'
${login(`${NAME} 192.0.2.66 port 1 [preauth]`)}
${login(NAME)}
${login(NAME, other.path)}
${logged(refused, 1)}
usermod -s /nonexistent/shell ${NAME}
${login(NAME)}
usermod -s /bin/bash ${NAME}
chmod 0777 ${join(base, NAME)}
${login(NAME)}
${logged(refused, 2)}
chmod 0700 ${join(base, NAME)}
${keyFile('from="192.0.2.0/24" ')}
${login(NAME)}
${logged("not from a permitted host", 1)}
'${bunRuntime.program[0]}' '${READER}' ${NAME}`,
        );
        const { refusals, unread } = JSON.parse(printed.trim().split("\n").at(-1) ?? "") as {
          readonly refusals: readonly { readonly from: string; readonly why: string }[];
          readonly unread?: string;
        };
        expect(unread).toBeUndefined();
        expect(refusals.map(({ from }) => from)).toEqual(Array(4).fill("127.0.0.1"));
        const [networks, modes, shell, wrongKey] = refusals.map(({ why }) => why);
        expect(networks).toContain("with correct key but not from a permitted host");
        expect(modes).toContain("Authentication refused: bad ownership or modes for directory");
        expect(shell).toContain("not allowed because shell /nonexistent/shell does not exist");
        expect(wrongKey).toStartWith(`Connection closed by authenticating user ${NAME} 127.0.0.1`);
        expect(printed).not.toContain("192.0.2.66");
        await host.openAccount(account);
      });
    });
  },
  hasJournald,
);
