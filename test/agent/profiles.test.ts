/** What an agent does about profiles: nobody keeps more than the service says, whatever the host refuses. */

import { beforeEach, describe, expect, test } from "bun:test";
import { applyState, type Work } from "../../src/agent/apply.ts";
import { createHolding, type Holding } from "../../src/agent/profiles.ts";
import { type AgentState, mergeAnswer } from "../../src/agent/records.ts";
import type { HostState } from "../../src/protocol/fleet.ts";
import { parseHostState } from "../../src/protocol/fleet-answers.ts";
import type { HostProfile } from "../../src/protocol/profile.ts";
import { createFakeHost, type FakeHost } from "../support/fake-host.ts";
import { timesAt, toldAccount } from "../support/fleet-stub.ts";

const SHELL: HostProfile = { name: "dev", kind: "shell", secondFactor: "none" };
const SFTP: HostProfile = { name: "drop", kind: "sftp", directory: "/srv/drop", secondFactor: "none" };
const KEY = { type: "sk-ssh-ed25519@openssh.com", base64: "AAAA", fingerprint: "" };
const NOW = timesAt(new Date("2026-11-27T10:00:00.000Z"));

let host: FakeHost;
let holding: Holding;
let state: AgentState | undefined;

beforeEach(() => {
  host = createFakeHost(0);
  holding = createHolding();
  state = undefined;
});

function answer(profile: string | undefined, profiles: readonly HostProfile[] | undefined): HostState {
  const account = toldAccount(profile === undefined ? {} : { profile });
  return {
    ...{ cursor: "", lease_ms: 1000, lease_ends: "logins", status: "active", end_sessions: "key" },
    ...{ full: true, cautious: false, accounts: [account], removed: [], recorded_locks: [] },
    ...(profiles === undefined ? {} : { profiles }),
  };
}

async function told(given: HostState): Promise<readonly string[]> {
  host.calls.length = 0;
  const about = { status: "active", mayOpen: true, locked: () => new Set<string>() } as const;
  const work: Work = { host, ...about, refused: new WeakMap(), turn: (step) => step(), times: () => NOW, holding };
  state = await applyState(work, mergeAnswer(state, given, { times: NOW }));
  return host.calls;
}

const account = () => host.accounts.get("ext_alice");
const problem = () => state?.records[0]?.problem?.text;

describe("an agent that is told of profiles", () => {
  test("holds them before it works on accounts, and opens each with its own", async () => {
    expect(await told(answer("drop", [SHELL, SFTP]))).toEqual([
      "holdProfiles take dev,drop",
      "createAccount ext_alice",
      "openAccount ext_alice",
    ]);
    expect([account()?.profile, holding.states()]).toEqual([
      "drop",
      [
        { name: "dev", state: "applied" },
        { name: "drop", state: "applied" },
      ],
    ]);
    // Nothing is new the second time.
    expect(await told(answer("drop", [SHELL, SFTP]))).toEqual([]);
  });

  test("ends what was begun with a profile that allowed more, or with a text of the same that did", async () => {
    await told(answer("dev", [SHELL, SFTP]));
    expect(await told(answer("drop", [SHELL, SFTP]))).toEqual(["narrowProfile ext_alice", "openAccount ext_alice"]);
    const narrower: HostProfile = { ...SFTP, readOnly: true };
    expect(await told(answer("drop", [SHELL, narrower]))).toEqual([
      "holdProfiles take dev,drop",
      "narrowProfile ext_alice",
      "openAccount ext_alice",
    ]);
    // Those of others concern nobody.
    expect(await told(answer("drop", [narrower]))).toEqual(["holdProfiles take drop"]);
    // Without a profile an account may do more: nothing has to end.
    expect(await told(answer(undefined, []))).toEqual(["holdProfiles take ", "openAccount ext_alice"]);
    expect(holding.states()).toEqual([]);
  });

  test("takes a key that a profile no longer lets in out of the file before it ends what is open", async () => {
    const [key, other] = [1, 2].map((id) => ({ ...KEY, id, fingerprint: `SHA256:${String(id).repeat(43)}` }));
    const strong: HostProfile = { ...SHELL, secondFactor: "verified" };
    const first = answer("dev", [strong]);
    await told({
      ...first,
      accounts: first.accounts.map((one) => ({ ...one, keys: [key, other].flatMap((it) => it ?? []) })),
    });
    const next = answer("dev", [{ ...strong, attestation: "required" }]);
    expect(
      await told({ ...next, accounts: next.accounts.map((one) => ({ ...one, keys: other ? [other] : [] })) }),
    ).toEqual([
      "holdProfiles take dev",
      "narrowKeys ext_alice",
      "narrowProfile ext_alice",
      "takeKey ext_alice",
      "openAccount ext_alice",
    ]);
    expect(account()?.file).toEqual([other?.fingerprint ?? ""]);
  });

  test("ends nothing where a profile says something else, or is another, and takes nothing away", async () => {
    await told(answer("dev", [SHELL]));
    const wider: HostProfile = { ...SHELL, forwarding: true, groups: ["users"] };
    const follows = ["holdProfiles take dev", "openAccount ext_alice"];
    expect(await told(answer("dev", [{ ...SHELL, banner: "/etc/issue.net" }]))).toEqual(follows);
    expect(await told(answer("dev", [wider]))).toEqual(follows);
    const other = { ...wider, name: "ops" };
    expect(await told(answer("dev", [wider, other]))).toEqual(["holdProfiles take dev,ops"]);
    expect(await told(answer("ops", [wider, other]))).toEqual(["openAccount ext_alice"]);
    // Without a profile nobody has the groups.
    expect(await told(answer(undefined, [wider, other]))).toEqual(["narrowProfile ext_alice", "openAccount ext_alice"]);
    // What was not known before may have been more.
    expect(await told(answer("new", [{ ...wider, name: "new" }]))).toEqual([
      "holdProfiles take new",
      "narrowProfile ext_alice",
      "openAccount ext_alice",
    ]);
  });

  test("ends what was begun with a wider profile that a crash left on the host, and that was never stored", async () => {
    await told(answer("dev", [SHELL]));
    // The process ends after the host held it, and the next one knows what was stored before.
    await host.holdProfiles([{ ...SHELL, forwarding: true }], "take");
    holding = createHolding();
    expect(await told(answer("dev", [SHELL]))).toEqual([
      "holdProfiles take dev",
      "narrowProfile ext_alice",
      "openAccount ext_alice",
    ]);
    expect(await told(answer("dev", [SHELL]))).toEqual([]);
  });

  test("goes on with what has to end although the profile is as it was again", async () => {
    await told(answer("dev", [SHELL]));
    host.profileProblems.set("dev", "sshd says something else");
    await told(answer("dev", [{ ...SHELL, maxSessions: 1 }]));
    host.profileProblems.clear();
    expect(await told(answer("dev", [SHELL]))).toEqual([
      "holdProfiles take dev",
      "narrowProfile ext_alice",
      "openAccount ext_alice",
    ]);
  });

  test("shuts an account whose narrower profile is not held, until it is", async () => {
    await told(answer("dev", [SHELL]));
    host.profileProblems.set("dev", "sshd says something else");
    const narrower: HostProfile = { ...SHELL, maxSessions: 1 };
    expect(await told(answer("dev", [narrower]))).toEqual(["holdProfiles take dev", "shutAccount ext_alice"]);
    expect([account()?.open, problem()]).toEqual([false, expect.stringContaining("sshd says something else")]);
    expect(holding.states()).toEqual([{ name: "dev", state: "problem", problem: "sshd says something else" }]);
    host.profileProblems.clear();
    expect(await told(answer("dev", [narrower]))).toEqual(["narrowProfile ext_alice", "openAccount ext_alice"]);
    expect([account()?.open, problem()]).toEqual([true, undefined]);
  });

  test("opens no account whose profile is not held, or that nobody said anything of", async () => {
    host.profileProblems.set("drop", "/srv/drop does not exist");
    expect(await told(answer("drop", [SFTP]))).toEqual(["holdProfiles take drop"]);
    expect(problem()).toBe("The profile drop is not held here: /srv/drop does not exist");
    expect(await told(answer("other", [SFTP]))).toEqual([]);
    expect(problem()).toContain("the service did not say what it is");
  });

  test("gives no other profile while the history went back, and keeps those that it knows", async () => {
    await told(answer("drop", [SFTP]));
    expect(await told({ ...answer("drop", [{ ...SFTP, directory: "/" }, SHELL]), cautious: true })).toEqual([
      "holdProfiles take drop,dev",
    ]);
    expect(host.profiles).toEqual([SFTP, SHELL]);
    expect(await told({ ...answer("dev", [SFTP, SHELL]), cautious: true })).toEqual(["shutAccount ext_alice"]);
  });

  test("parseHostState() takes profiles as they are, and none that is something else", () => {
    const cursor = `7.${"0123456789abcdef".repeat(4)}`;
    const full = { ...answer("drop", [SFTP, { ...SHELL, forwarding: ["db:5432"], idleSeconds: 900 }]), cursor };
    expect(parseHostState(full)).toEqual(full);
    for (const odd of [{ ...SFTP, kind: "root" }, { ...SFTP, directory: 7 }, { name: "drop" }])
      expect(parseHostState({ ...full, profiles: [odd] })).toBeUndefined();
  });
});
