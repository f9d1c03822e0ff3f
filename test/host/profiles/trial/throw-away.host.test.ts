/** Trying a profile that a host holds: with an account that is gone afterwards, whatever became of the trial. */

import { afterAll, beforeEach, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { readAccounts } from "../../../../src/host/account.ts";
import { FORWARDS } from "../../../../src/host/profiles/trial/forwards.ts";
import { tryHeldProfile } from "../../../../src/host/profiles/trial/throw-away.ts";
import { DEEDS, isAsSaid } from "../../../../src/host/profiles/trial/trial.ts";
import type { Host } from "../../../../src/protocol/host.ts";
import type { HostProfile } from "../../../../src/protocol/profile.ts";
import { base, directHost, prepareHost, RUN, sshd, stored } from "../../../support/direct-host.ts";
import { describeOnHost, testSettings } from "../../../support/host-account.ts";
import { forgetProfiles, profiledSettings, profiledSshd } from "../../../support/profiled-host.ts";

const ACCOUNT = "ext_uam-profile-try";

describeOnHost("trying a profile", () => {
  prepareHost(profiledSshd);

  const sftp = (): HostProfile => ({
    ...{ name: `t${RUN}-sftp`, kind: "sftp", directory: join(base, "drop"), secondFactor: "none" },
  });
  const forward: HostProfile = {
    ...{ name: `t${RUN}-db`, kind: "forward", targets: ["127.0.0.1:9"], secondFactor: "verified" },
  };
  let host: Host;
  beforeEach(async () => {
    host = await directHost(profiledSettings(base, sshd.config));
    expect((await host.holdProfiles([sftp(), forward], "give")).map(({ state }) => state)).toEqual([
      "applied",
      "applied",
    ]);
  });
  afterAll(() => forgetProfiles(sftp().name, forward.name));

  const settings = () => ({ ...testSettings(), ...profiledSettings(base, sshd.config), homeBase: base });
  const tried = (name: string, deeds = DEEDS) =>
    tryHeldProfile({ host, settings: settings(), now: new Date() }, name, deeds);
  function expectNothingLeft(): void {
    expect(readAccounts().passwd.has(ACCOUNT)).toBe(false);
    for (const path of ["/run/uam-try", join(base, ACCOUNT), join(base, "drop", ACCOUNT)]) {
      expect([path, existsSync(path)]).toEqual([path, false]);
    }
  }

  test("tryHeldProfile() finds a host that does what the profile says, and leaves nothing", async () => {
    const rows = await tried(sftp().name);
    expect(rows.filter((row) => isAsSaid(row) === false)).toEqual([]);
    expect(rows.filter((row) => isAsSaid(row) === true).length).toBeGreaterThan(25);
    expectNothingLeft();
  });

  test("tryHeldProfile() tries a verified second factor with a security key in software", async () => {
    const rows = await tried(forward.name, FORWARDS);
    expect(rows.filter((row) => isAsSaid(row) === false)).toEqual([]);
    expect(rows.find(({ name }) => name.includes("target of the profile"))?.seen).toBe("happened");
    expectNothingLeft();
  });

  test("tryHeldProfile() removes what an earlier trial left that was killed", async () => {
    await host.createAccount(stored({ name: ACCOUNT, uid: 65_530, profile: sftp().name }));
    expect(readAccounts().passwd.has(ACCOUNT)).toBe(true);
    await tried(forward.name, []);
    expectNothingLeft();
  });

  test("tryHeldProfile() refuses a profile that the host does not hold", async () => {
    const refused = tried("none").catch((error: Error) => error.message);
    expect(await refused).toBe(`This host holds no profile named "none": it holds ${forward.name}, ${sftp().name}`);
    expectNothingLeft();
  });
});
