import { describe, expect, test } from "bun:test";
import { readConfig } from "../../src/config/config.ts";
import { policyOf } from "../../src/server/compose.ts";

const siteOf = (variables: Record<string, string>) =>
  policyOf(readConfig(variables, { isRoot: false, currentDirectory: "/" })).site;

describe("policyOf()", () => {
  test("says where users connect: the base URL's host name, port 22", () => {
    expect(siteOf({ UAM_BASE_URL: "https://uam.example.org:8443" })).toEqual({
      baseUrl: "https://uam.example.org:8443",
      host: "uam.example.org",
      port: 22,
      contact: undefined,
      console: true,
    });
    expect(siteOf({ UAM_BASE_URL: "http://[::1]:8080" })).toMatchObject({ host: "::1", port: 22 });
    expect(siteOf({})).toMatchObject({ host: "127.0.0.1", port: 22 });
  });

  test("follows UAM_SSH_HOST and UAM_CONTACT", () => {
    const variables = { UAM_SSH_HOST: "ssh.example.org:2222", UAM_CONTACT: "help@example.org" };
    expect(siteOf(variables)).toMatchObject({ host: "ssh.example.org", port: 2222, contact: "help@example.org" });
  });

  test("follows UAM_CONSOLE", () => {
    expect(siteOf({ UAM_CONSOLE: "off" }).console).toBe(false);
  });
});
