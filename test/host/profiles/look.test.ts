import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { earlierRules, lookAtProfiles } from "../../../src/host/profiles/look.ts";

const base = mkdtempSync(join(tmpdir(), "uam-test-look-"));
afterAll(() => rmSync(base, { recursive: true, force: true }));

test("earlierRules() finds the Match lines that sshd reads before our file, and none after it", () => {
  const ours = join(base, "profiles/sshd.conf");
  const config = join(base, "sshd_config");
  const dropIn = (name: string, text: string) => writeFileSync(join(base, "sshd_config.d", name), text);
  mkdirSync(join(base, "sshd_config.d"));
  writeFileSync(config, `  include "${base}/sshd_config.d/*.conf"\nPort 22\nMatch User backup\n`);
  dropIn("50-uam.conf", `Match User ext_*\n    Include ${ours}\nMatch User ext_*\n`);
  expect(earlierRules(config, ours)).toEqual([]);
  dropIn("10-own.conf", "X11Forwarding no\nmatch Address 192.0.2.0/24\n  PermitOpen any\n");
  dropIn("50-redhat.conf", "# Match User all\nMatch=Group ext_*\n");
  dropIn("60-late.conf", "Match User ext_*\n");
  dropIn("90-other", "Match all\n");
  expect(earlierRules(config, ours)).toEqual([
    `${base}/sshd_config.d/10-own.conf: Match Address 192.0.2.0/24`,
    `${base}/sshd_config.d/50-redhat.conf: Match Group ext_*`,
  ]);
  // Where it is not read, nothing comes before it; and a file that includes itself ends.
  dropIn("50-uam.conf", `Include ${base}/sshd_config.d/50-uam.conf\n`);
  expect(earlierRules(config, ours)).toEqual([]);
});

test("lookAtProfiles() says nothing of a host that holds none", async () => {
  const profilePaths = { directory: join(base, "none"), templates: "", groups: "" };
  expect(await lookAtProfiles({ profilePaths })).toEqual({ names: [], faults: [], earlier: [] });
});
