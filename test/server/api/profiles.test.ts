/** /profiles, and the profiles of users, groups and applicants, as requests give them. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Client, createTestApp, type TestApp } from "../../support/app.ts";
import { insertHost } from "../../support/host-rows.ts";

let app: TestApp;
let owner: Client;

beforeAll(async () => {
  app = await createTestApp({});
  owner = await app.admin();
});
afterAll(() => app.close());

async function made(body: object): Promise<{ readonly id: number; readonly name: string }> {
  const { status, body: answer } = await owner.call("POST", "/profiles", body);
  expect(status).toBe(201);
  return answer.data;
}

describe("/profiles", () => {
  test("has a profile as it was made and changed, and says how many have it", async () => {
    const { id } = await made({ name: "drop", kind: "sftp", directory: "/data/acme", umask: "027", idle: "15m" });
    const whole = {
      ...{ id, name: "drop", kind: "sftp", directory: "/data/acme", read_only: false, umask: "027", targets: [] },
      ...{
        forwarding: false,
        command: null,
        idle: "15m",
        max_sessions: null,
        second_factor: "none",
        attestation: "none",
      },
      ...{ groups: [], sudo: [], banner: null, users: 0 },
    };
    expect((await owner.call("GET", `/profiles/${id}`)).body.data).toEqual(whole);
    const less = await owner.call("PATCH", `/profiles/${id}`, { read_only: true });
    expect(less.body.data).toEqual({ ...whole, read_only: true });
    await owner.call("POST", "/users", { username: "dora", email: "dora@example.org", profile: "drop" });
    expect((await owner.call("GET", "/profiles")).body.data.items).toEqual([{ ...whole, read_only: true, users: 1 }]);
    const preview = await owner.call("PATCH", `/profiles/${id}?preview=true`, { directory: "/data/other" });
    expect(preview.body.data).toMatchObject({ preview: true, users: 0 });
    expect((await owner.call("DELETE", `/profiles/${id}`)).status).toBe(409);
  });

  test("refuses what sshd could read as anything else, and changes nothing", async () => {
    const wrong = { name: "evil", kind: "sftp", directory: "/data\nMatch all" };
    expect((await owner.call("POST", "/profiles", wrong)).status).toBe(400);
    expect((await owner.call("POST", "/profiles", { name: "evil", kind: "forward", targets: ["*:*"] })).status).toBe(
      400,
    );
    expect(
      (await owner.call("POST", "/profiles", { name: "evil", kind: "shell", attestation: "required" })).status,
    ).toBe(400);
    expect((await owner.call("GET", "/profiles")).body.data.items).toHaveLength(1);
  });
});

describe("a user's profile", () => {
  test("is in their record, in words at GET /me, and has a preview of its own", async () => {
    const { name } = await made({ name: "tunnel", kind: "forward", targets: ["DB1.example.org:5432"] });
    const { id, client } = await app.user("erin");
    expect((await client.call("GET", "/me")).body.data.profile).toBeNull();
    const preview = await owner.call("PATCH", `/users/${id}?preview=true`, { profile: name });
    expect(preview.body.data.effects[0]).toBe("erin may open connections to db1.example.org:5432, nothing else.");
    const both = await owner.call("PATCH", `/users/${id}?preview=true`, { profile: name, note: "x" });
    expect(both.body.data).toMatchObject({ preview: true, profile: name, effects: preview.body.data.effects });
    expect((await owner.call("GET", `/users/${id}`)).body.data.profile).toBeNull();
    expect((await owner.call("PATCH", `/users/${id}`, { profile: name })).body.data.profile).toBe(name);
    expect((await client.call("GET", "/me")).body.data.profile).toBe(
      "may open connections to db1.example.org:5432, nothing else",
    );
    expect((await owner.call("PATCH", `/users/${id}`, { profile: "nobodys" })).status).toBe(400);
  });

  test("is the reviewer's to choose when an application is approved", async () => {
    const applied = await app.anonymous().call("POST", "/approvals", { username: "fay", email: "fay@example.org" });
    const { id } = applied.body.data;
    const answer = await owner.call("POST", `/approvals/${id}/review`, { approve: true, profile: "tunnel" });
    expect(answer.status).toBe(200);
    expect(app.host.accounts.get("ext_fay")?.profile).toBe("tunnel");
  });
});

test("users see what their account may do on each host, and the commands for it", async () => {
  const targets = ["db1.example.org:5432", "web:80"];
  await made({ name: "to-both", kind: "forward", targets, second_factor: "verified" });
  await made({ name: "to-one", kind: "forward", targets: targets.slice(0, 1), second_factor: "verified" });
  await insertHost(app, "web1");
  await owner.call("POST", "/host-groups", { name: "narrow", profile: "to-one" });
  await insertHost(app, "web2", { groups: ["narrow"] });
  const { client, id } = await app.user("hal");
  const before = (await client.call("GET", "/me")).body.data.ssh;
  expect(before).not.toHaveProperty("profile");
  const hosts = ["local", "web1"];
  expect((await owner.call("PUT", `/users/${id}/hosts`, { hosts, groups: ["narrow"] })).status).toBe(200);
  expect((await owner.call("PATCH", `/users/${id}`, { profile: "to-both" })).status).toBe(200);
  const shown = (host: string, ...commands: string[]) => ({
    command: commands[0],
    profile: {
      ...{ kind: "forward", second_factor: "verified", commands },
      means: `may open connections to ${commands.length === 1 ? targets[0] : targets.join(" and ")}, nothing else`,
    },
    ...(host === "" ? {} : { host }),
  });
  const at = (host: string, ...of: string[]) => of.map((each) => `ssh -N -L ${each} ext_hal@${host}`);
  const [one, other] = ["5432:db1.example.org:5432", "8080:web:80"];
  const { ssh } = (await client.call("GET", "/me")).body.data;
  expect(ssh).toMatchObject(shown(before.host, ...at(before.host, one, other)));
  const { items } = (await client.call("GET", "/me/hosts")).body.data;
  const named = Object.fromEntries(items.map((item: { name: string; ssh: object }) => [item.name, item.ssh]));
  expect(named.local).toMatchObject(shown("", ...at(before.host, one, other)));
  expect(named.web1).toMatchObject(shown("", ...at(named.web1.host, one, other)));
  // The narrower of two counts, on that host alone.
  expect(named.web2).toMatchObject(shown("", ...at(named.web2.host, one)));
});

test("a group's profile is in its record, and whoever comes by it has what it says", async () => {
  await made({ name: "deploy", kind: "command", command: "deploy" });
  const group = (await owner.call("POST", "/host-groups", { name: "web", hosts: ["local"], profile: "deploy" })).body
    .data;
  expect(group.profile).toBe("deploy");
  const { id } = await app.user("gus");
  await owner.call("PUT", `/users/${id}/hosts`, { hosts: [], groups: ["web"] });
  expect(app.host.accounts.get("ext_gus")?.profile).toBe("deploy");
  const preview = await owner.call("PATCH", `/host-groups/${group.id}?preview=true`, { profile: null });
  expect(preview.body.data.effects).toEqual([
    "Whoever has the group web may do on its hosts what their own profile says.",
  ]);
  expect((await owner.call("PATCH", `/host-groups/${group.id}`, { profile: null })).body.data.profile).toBeNull();
  expect(app.host.accounts.get("ext_gus")?.profile).toBeUndefined();
});
