/** sshd's own log in a real journald: real logins are found once each, and what the account's owner writes is not. */

import { describe, expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { bunRuntime } from "../../src/runtime/bun.ts";
import { base, directHost, NAME, prepareHost, sshd, stored, UID } from "../support/direct-host.ts";
import { describeOnHost } from "../support/host-account.ts";
import { hasJournald, withJournald } from "../support/journald.ts";
import { freePort } from "../support/port.ts";

const READER = join(import.meta.dir, "../support/login-reader.ts");

describeOnHost(
  "sshd's log in a journal",
  () => {
    prepareHost();

    describe("read", () => {
      test("read() finds real logins once, and no line of the account's owner", async () => {
        const { path, key } = sshd.makeKey(51);
        const host = await directHost();
        await host.createAccount(stored({ keys: [key] }));
        await host.writeKeys(stored({ keys: [key] }));
        const directory = join(base, "journal");
        mkdirSync(directory);
        const forged = `Accepted publickey for ${NAME} from 192.0.2.66 port 1 ssh2: ED25519 ${key.fingerprint}`;
        const options = "-F none -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null";
        const read = (...places: readonly string[]) =>
          [bunRuntime.program[0], READER, ...places].map((word) => `'${word}'`).join(" ");
        const port = await freePort();
        const printed = withJournald(
          directory,
          `
as_owner() { setpriv --reuid ${UID} --regid ${UID} --clear-groups -- "$@"; }
as_owner logger -t sshd '${forged}'
as_owner logger -t sshd --id=$$ '${forged}'
as_owner logger -t sshd-session --id=1 '${forged}'
printf 'SYSLOG_IDENTIFIER=sshd\\n_UID=0\\n_COMM=sshd\\n_EXE=/usr/sbin/sshd\\nMESSAGE=%s\\n' '${forged}' | as_owner logger --journald
as_owner bash -c 'printf "<38>sshd[1]: %s" "$0" > "$1" || true' '${forged}' /dev/log 2> /dev/null || true
# The same sshd as the test's own, but it logs to the journal.
sed "s/^Port .*/Port ${port}/" ${sshd.config} > "$DIRECTORY/sshd_config"
/usr/sbin/sshd -D -f "$DIRECTORY/sshd_config" &
server=$!
for attempt in $(seq 1200); do ssh-keyscan -T 1 -p ${port} 127.0.0.1 2> /dev/null | grep -q ed25519 && break; sleep 0.05; done
for login in 1 2 3; do ssh ${options} -i ${path} -p ${port} ${NAME}@127.0.0.1 true 2> /dev/null; done
ssh ${options} -p ${port} nobody-here@127.0.0.1 true 2> /dev/null || true
for attempt in $(seq 1200); do [ "$(journalctl -q | grep -c 'Accepted publickey for ${NAME} from 127')" -ge 3 ] && break; sleep 0.05; done
journalctl -q | grep -c '192.0.2.66'
${read("1000", "", "on", "nonsense", "s=00000000000000000000000000000000;i=1;b=0;m=0;t=0;x=0")}
${read("4", "", "on", "on", "on", "on", "on", "on", "on")}`,
        );
        const [count = "0", ...lines] = printed.trim().split("\n");
        // They are in the journal, so it is the reader that leaves them out.
        expect(Number(count)).toBeGreaterThanOrEqual(4);
        const [all, again, anew, other, ...pieces] = lines.map(
          (line) => JSON.parse(line) as { readonly logins: readonly { readonly at: string }[]; readonly next: string },
        );
        const login = { account: NAME, from: "127.0.0.1", fingerprint: key.fingerprint, at: expect.any(String) };
        expect(all?.logins).toEqual([login, login, login]);
        expect(again).toEqual({ logins: [], next: all?.next ?? "" });
        expect(anew?.logins).toEqual(all?.logins);
        // A place that this journal never had is taken for the nearest, or for the beginning.
        expect((other?.logins ?? []).length).toBeLessThanOrEqual(3);
        expect(pieces.flatMap(({ logins }) => logins)).toEqual([...(all?.logins ?? [])]);
      });
    });
  },
  hasJournald,
);
