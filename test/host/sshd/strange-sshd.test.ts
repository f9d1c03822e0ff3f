import { expect, test } from "bun:test";
import { createDryRunExecutor } from "../../../src/host/execute/dry-run.ts";
import { createManagedHost } from "../../../src/host/managed-host.ts";
import { createKeyFilePatterns } from "../../../src/host/sshd/sshd.ts";
import type { Host } from "../../../src/protocol/host.ts";
import { recordingLog, testAccount, testSettings } from "../../support/host-account.ts";
import { needs } from "../../support/tools.ts";

const ACCOUNT = testAccount();
const SENTENCE = /^sshd -T does not say what AuthorizedKeysFile, .* are: its answer is not understood$/;

/** A host on which every account is as it should be, with an sshd that answers so. */
function hostWhereSshd(said: { readonly exitCode: number; readonly stdout: string; readonly stderr: string }): Host {
  const settings = testSettings({ mode: "direct", revokeEnds: "none" });
  const { log } = recordingLog();
  const executor = createDryRunExecutor(settings, log);
  const patterns = createKeyFilePatterns(undefined, async () => said);
  return createManagedHost({ settings, executor, expiry: { kind: "utc" }, log, patterns, hostKeys: async () => [] });
}

test.if(needs("sshd"))(
  "an sshd whose answer is not understood is a difference of the host, and never the same as nothing differing",
  async () => {
    const host = hostWhereSshd({ exitCode: 0, stdout: "KeysAreIn /somewhere\n", stderr: "" });
    for (const accounts of [[ACCOUNT], []]) {
      const [drift, ...others] = await host.reconcile(accounts, true);
      expect(drift).toMatchObject({ account: "", kind: "failed", repaired: false });
      expect(drift?.problem).toMatch(SENTENCE);
      expect(others).toEqual([]);
    }
  },
);

test.if(needs("sshd"))("what takes access away owes it: other files may let the key in", async () => {
  const host = hostWhereSshd({ exitCode: 0, stdout: "KeysAreIn /somewhere\n", stderr: "" });
  const taken = await host.takeKey(ACCOUNT, "SHA256:revoked");
  expect(taken).toEqual({ rewritten: true, owed: [expect.stringMatching(SENTENCE)] });
  expect(await host.narrowKeys({ ...ACCOUNT, keys: [] })).toEqual([expect.stringMatching(SENTENCE)]);
});

test.if(needs("sshd"))(
  "an sshd that refuses to answer is a difference, and keeps nobody from taking access away",
  async () => {
    const host = hostWhereSshd({ exitCode: 255, stdout: "", stderr: "sshd: no hostkeys available -- exiting.\n" });
    expect((await host.reconcile([ACCOUNT], true)).map(({ problem }) => problem)).toEqual([
      "sshd does not say which key files it reads: sshd: no hostkeys available -- exiting.",
    ]);
    expect(await host.takeKey(ACCOUNT, "SHA256:revoked")).toEqual({ rewritten: true, owed: [] });
  },
);
