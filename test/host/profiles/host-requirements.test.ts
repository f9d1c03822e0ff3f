import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { allowedGroups } from "../../../src/host/profiles/host-requirements.ts";
import { PROFILE_PATHS } from "../../../src/host/profiles/names.ts";

const base = mkdtempSync(join(tmpdir(), "uam-test-facts-"));
afterAll(() => rmSync(base, { recursive: true, force: true }));

test("allowedGroups() has none whose members can make themselves root, whatever the file says", () => {
  const groups = join(base, "profile-groups");
  const likeRoot = ["root", "sudo", "wheel", "docker", "lxd", "incus-admin", "libvirt", "disk", "shadow", "uam-p-dev"];
  writeFileSync(groups, ["# ours", "developers", ...likeRoot, " dialout ", ""].join("\n"));
  expect([...allowedGroups({ ...PROFILE_PATHS, groups })]).toEqual(["developers", "dialout"]);
});
