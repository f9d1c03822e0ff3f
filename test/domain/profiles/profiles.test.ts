/** Profiles as they are made, given, narrowed and widened: what is taken away goes forward, and what is given is held or not given. */

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { findUser } from "../../../src/domain/accounts/find-user.ts";
import { setUserHosts } from "../../../src/domain/hosts/grants.ts";
import { changeGroup, createGroup, deleteGroup } from "../../../src/domain/hosts/groups.ts";
import { finishClosings } from "../../../src/domain/lifecycle/finish-closings.ts";
import { reconcileHost } from "../../../src/domain/lifecycle/reconcile.ts";
import { holdStored } from "../../../src/domain/profiles/hold.ts";
import { createProfile, deleteProfile, listProfiles } from "../../../src/domain/profiles/profiles.ts";
import { previewProfile, updateProfile } from "../../../src/domain/profiles/update.ts";
import { previewUserProfile } from "../../../src/domain/users/set-profile.ts";
import { updateUser } from "../../../src/domain/users/update.ts";
import { createUser } from "../../../src/domain/users/users.ts";
import { MINUTE } from "../../../src/shared/time/clock.ts";
import { closings, LOCAL_HOST } from "../../../src/store/schema.ts";
import { hosts } from "../../../src/store/schema-fleet.ts";
import { createTestApp, type TestApp } from "../../support/app.ts";

let app: TestApp;
let count = 0;

beforeAll(async () => {
  app = await createTestApp({});
});
beforeEach(() => app.clock.advance(MINUTE));
afterEach(async () => {
  app.host.failing.clear();
  app.host.profileProblems.clear();
  app.host.sessionsOpen.length = 0;
  await app.db.delete(closings);
});
afterAll(() => app.close());

async function person(profile?: string) {
  const username = `prof-${++count}`;
  const user = await createUser(app.system, { username, email: `${username}@example.org`, profile });
  return { ...user, account: `ext_${username}` };
}
function logIn(account: string): void {
  const session = { since: new Date(), from: "192.0.2.1", fingerprint: undefined };
  app.host.sessionsOpen.push({ ...session, account, id: `${app.host.sessionsOpen.length + 1}0000001234` });
}
const isIn = (account: string) => app.host.sessionsOpen.some((session) => session.account === account);
const onHost = (account: string) => app.host.accounts.get(account)?.profile;
const owed = () => app.db.select().from(closings);
/** The sentence with which it is refused. */
async function refusal(work: Promise<unknown>): Promise<string> {
  return await work.then(
    () => "not refused",
    (error: Error) => error.message,
  );
}
async function shell(name = `sh-${++count}`) {
  return (await createProfile(app.system, { name, kind: "shell" })).row;
}
async function drop(name = `dr-${++count}`) {
  return (await createProfile(app.system, { name, kind: "sftp", directory: "/data/acme" })).row;
}

describe("createProfile()", () => {
  test("has the host hold it, on record", async () => {
    const { name } = await drop();
    expect(app.host.profiles.find((one) => one.name === name)).toEqual({
      ...{ name, kind: "sftp", secondFactor: "none", directory: "/data/acme", readOnly: false },
    });
    expect(await app.auditRows("profile.create")).toContainEqual(
      expect.objectContaining({
        result: "success",
        detail: expect.stringContaining("may copy files to and from /data/acme"),
      }),
    );
  });

  test("makes nothing that the host cannot hold, and that one's name stays free", async () => {
    app.host.profileProblems.set("lost", "There is no program deploy in /etc/uam-commands");
    const input = { name: "lost", kind: "command", command: "deploy" } as const;
    expect(await refusal(createProfile(app.system, input))).toBe(
      "The service's own host cannot hold the profile lost: There is no program deploy in /etc/uam-commands",
    );
    expect((await listProfiles(app.system)).map(({ row }) => row.name)).not.toContain("lost");
    expect(app.host.profiles.map(({ name }) => name)).not.toContain("lost");
    app.host.profileProblems.clear();
    await createProfile(app.system, input);
    expect(await refusal(createProfile(app.system, input))).toBe("There is a profile named lost");
  });
});

describe("a user's profile", () => {
  test("reaches the host with the account", async () => {
    const { name } = await drop();
    const { account } = await person(name);
    expect(onHost(account)).toBe(name);
    expect(await refusal(person("nobodys"))).toBe('There is no profile named "nobodys"');
  });

  test("that allows less ends what is open, and more does not", async () => {
    const [{ name: all }, { name: files }] = [await shell(), await drop()];
    const { id, account } = await person();
    logIn(account);
    expect((await previewUserProfile(app.system, id, files)).effects).toEqual([
      `prof-${count} may copy files to and from /data/acme, nothing else.`,
      `Every session and process of ${account} ends, which is logged in once now.`,
    ]);
    await updateUser(app.system, id, { profile: files });
    expect([onHost(account), isIn(account)]).toEqual([files, false]);
    logIn(account);
    await updateUser(app.system, id, { profile: all });
    expect([onHost(account), isIn(account)]).toEqual([all, true]);
    await updateUser(app.system, id, { profile: null });
    expect([onHost(account), isIn(account), (await owed()).length]).toEqual([undefined, true, 0]);
    expect((await app.auditRows("user.update")).at(-1)?.detail).toContain(`"old_profile":"${all}"`);
  });

  test("that the host cannot narrow is stored all the same, and finished later", async () => {
    const { name } = await drop();
    const { id, account } = await person();
    logIn(account);
    app.host.failing.add("narrowProfile");
    expect(await refusal(updateUser(app.system, id, { profile: name }))).toContain(
      "they may still do more on the host until this is done",
    );
    expect((await findUser(app.db, id))?.profile).toBe(name);
    expect(await owed()).toMatchObject([{ userId: id, kind: "profile", action: "", attempts: 1 }]);
    app.host.failing.clear();
    app.clock.advance(2 * MINUTE);
    await finishClosings(app.system);
    expect([onHost(account), isIn(account), await owed()]).toEqual([name, false, []]);
    expect((await app.auditRows("reconcile.repair")).at(-1)?.detail).toContain("narrowing what the account may do");
  });

  test("is finished by the jobs if the service ended after it was stored", async () => {
    const { name } = await drop();
    const { id, account } = await person(name);
    logIn(account);
    const now = app.clock.now();
    const note = {
      userId: id,
      kind: "profile",
      action: "",
      actorType: "cli",
      actor: "root",
      begunAt: now,
      dueAt: now,
    } as const;
    await app.db.insert(closings).values(note);
    await finishClosings(app.system);
    expect([isIn(account), await owed()]).toEqual([false, []]);
  });

  test("that was made wider on the host, and never stored because the service ended, ends what came in by it", async () => {
    const { name } = await drop();
    const { account } = await person(name);
    const stored = app.host.profiles.slice();
    await app.host.holdProfiles(
      stored.map((one) => (one.name === name ? { ...one, maxSessions: 99 } : one)),
      "give",
    );
    logIn(account);
    await holdStored(app.services);
    expect([app.host.profiles, isIn(account), (await owed()).length]).toEqual([stored, true, 1]);
    await finishClosings(app.system);
    expect([isIn(account), await owed()]).toEqual([false, []]);
    await holdStored(app.services);
    expect(await owed()).toEqual([]);
  });

  test("that is wider, and the host does not follow, is less than is stored until it does", async () => {
    const { name } = await drop();
    const { id, account } = await person(name);
    app.host.failing.add("openAccount");
    expect(await refusal(updateUser(app.system, id, { profile: null }))).toContain("the host does not follow it yet");
    expect(onHost(account)).toBe(name);
  });
});

describe("updateProfile()", () => {
  test("that allows less ends what is open of everybody who has it, new sessions first", async () => {
    const { id, name } = await shell();
    const [one, other, none] = [await person(name), await person(name), await person()];
    for (const { account } of [one, other, none]) logIn(account);
    app.host.calls.length = 0;
    const preview = await previewProfile(app.system, id, { forwarding: false });
    expect(preview.effects[1]).toBe(
      `Every session and process of 2 accounts on the service's own host ends: ${one.username}, ${other.username}.`,
    );
    expect(app.host.calls).toEqual([]);
    await updateProfile(app.system, id, { forwarding: false });
    expect(app.host.calls.map((call) => call.split(" ").slice(0, 2).join(" "))).toEqual([
      "holdProfiles take",
      `narrowProfile ${one.account}`,
      `narrowProfile ${other.account}`,
    ]);
    expect([one, other, none].map(({ account }) => isIn(account))).toEqual([false, false, true]);
    expect((await app.auditRows("profile.update")).at(-1)?.detail).toContain('"old_forwarding":true');
  });

  test("that allows more ends nothing, or changes nothing where the host cannot hold it", async () => {
    const { id, name } = await shell();
    await updateProfile(app.system, id, { idle: "5m" });
    const { account } = await person(name);
    logIn(account);
    app.host.profileProblems.set(name, "sshd says otherwise");
    expect(await refusal(updateProfile(app.system, id, { idle: "10m" }))).toContain("sshd says otherwise");
    app.host.profileProblems.clear();
    expect(app.host.profiles.find((one) => one.name === name)?.idleSeconds).toBe(300);
    await updateProfile(app.system, id, { idle: null });
    expect(app.host.profiles.find((one) => one.name === name)?.idleSeconds).toBeUndefined();
    expect(isIn(account)).toBe(true);
  });

  test("that the host does not hold is stored all the same where it takes, and tried again each minute", async () => {
    const { id, name } = await shell();
    app.host.profileProblems.set(name, "sshd says otherwise");
    const { id: userId } = await person(name);
    expect(await refusal(updateProfile(app.system, id, { forwarding: false }))).toContain("Left to do");
    // Whoever has it may do more by what the host still holds.
    expect(await owed()).toMatchObject([{ userId, problem: "sshd says otherwise" }]);
    const [row] = await app.db.select({ profiles: hosts.profiles }).from(hosts).where(eq(hosts.id, LOCAL_HOST));
    expect(JSON.parse(row?.profiles ?? "[]")).toContainEqual({
      name,
      state: "problem",
      problem: "sshd says otherwise",
    });
    app.host.profileProblems.clear();
    await reconcileHost(app.system, "/nonexistent", "repair at once");
    expect(await owed()).toEqual([]);
    const [after] = await app.db.select({ profiles: hosts.profiles }).from(hosts).where(eq(hosts.id, LOCAL_HOST));
    expect(JSON.parse(after?.profiles ?? "[]")).toContainEqual({ name, state: "applied" });
  });

  test("of two at the same instant: the profile and the host have what came last", async () => {
    const { id, name } = await shell();
    await Promise.all([
      updateProfile(app.system, id, { idle: "5m" }),
      updateProfile(app.system, id, { forwarding: false }),
      updateProfile(app.system, id, { maxSessions: 3 }),
    ]);
    expect(app.host.profiles.find((one) => one.name === name)).toMatchObject({
      ...{ idleSeconds: 300, forwarding: false, maxSessions: 3 },
    });
  });
});

describe("a group's profile", () => {
  test("binds whoever comes to the service's own host by it: the narrower of the two counts", async () => {
    const [{ name: files }, { name: all }] = [await drop(), await shell()];
    const { id, account } = await person(all);
    const group = (await createGroup(app.system, { name: `g-${++count}`, profile: files, hosts: ["local"] })).row;
    logIn(account);
    await setUserHosts(app.system, id, { hosts: [], groups: [group.name] });
    expect([onHost(account), isIn(account)]).toEqual([files, false]);
    logIn(account);
    await changeGroup(app.system, group.id, { profile: null });
    expect([onHost(account), isIn(account)]).toEqual([all, true]);
    await changeGroup(app.system, group.id, { profile: files });
    expect([onHost(account), isIn(account)]).toEqual([files, false]);
    await setUserHosts(app.system, id, { hosts: ["local"], groups: [] });
    expect(onHost(account)).toBe(all);
    await deleteGroup(app.system, group.id);
  });

  test("that cannot be compared with the user's is refused, whoever gives which last", async () => {
    const { name: files } = await drop();
    const tunnel = (await createProfile(app.system, { name: `tu-${++count}`, kind: "forward", targets: ["db1:5432"] }))
      .row;
    const { row: group } = await createGroup(app.system, { name: `g-${++count}`, hosts: ["local"], profile: files });
    const { id, username } = await person();
    await setUserHosts(app.system, id, { hosts: [], groups: [group.name] });
    const sentence = `${username} would have both profiles, ${tunnel.name} and ${files}, on a host: neither of them allows less than the other`;
    // A tunnel lets nobody run or copy anything: only its connections are more than files.
    expect(await refusal(updateUser(app.system, id, { profile: tunnel.name }))).toBe(sentence);
    await changeGroup(app.system, group.id, { profile: null });
    await updateUser(app.system, id, { profile: tunnel.name });
    expect(await refusal(changeGroup(app.system, group.id, { profile: files }))).toBe(sentence);
    expect((await findUser(app.db, id))?.profiles).toMatchObject([{ name: tunnel.name }]);
  });
});

describe("deleteProfile()", () => {
  test("is refused while somebody has it, and takes it from the host", async () => {
    const { id, name } = await drop();
    const { id: userId } = await person(name);
    const { row: group } = await createGroup(app.system, { name: `g-${++count}`, profile: name });
    expect(await refusal(deleteProfile(app.system, id))).toBe(
      `The profile ${name} is in use by 1 user and the groups of hosts ${group.name}; give them another first`,
    );
    await updateUser(app.system, userId, { profile: null });
    await changeGroup(app.system, group.id, { profile: null });
    await deleteProfile(app.system, id);
    expect(app.host.profiles.map((one) => one.name)).not.toContain(name);
    expect(await refusal(deleteProfile(app.system, id))).toBe("There is no such profile");
  });
});
