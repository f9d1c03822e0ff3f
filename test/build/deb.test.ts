import { describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { gunzipSync } from "node:zlib";
import manifest from "../../package.json" with { type: "json" };
import { maintainerOf, packageFiles } from "../../src/build/deb.ts";
import { renderManual } from "../../src/build/man.ts";
import { COLLECTION_DIRECTORY, DOCUMENTS_DIRECTORY } from "../../src/build/shipped-files.ts";

const completions = { bash: "# bash", zsh: "#compdef uam" };
const maintainer = "Ada <ada@example.org>";
const program = {
  version: "1.2.3",
  architecture: "amd64",
  completions,
  installedSize: 1,
  date: "today",
  maintainer,
  sbom: "{}\n",
};
const files = packageFiles(program);
const textOf = (path: string) => Buffer.from(files.get(path) ?? "").toString();

describe("packageFiles", () => {
  test("packageFiles() names architecture and version, and ships completions and a manual page", () => {
    expect(textOf("DEBIAN/control")).toMatch(
      /^Package: uam\nVersion: 1\.2\.3\nArchitecture: amd64\nMaintainer: Ada <ada@example\.org>\n/,
    );
    expect(textOf("usr/share/bash-completion/completions/uam")).toBe("# bash");
    expect(textOf("usr/share/zsh/vendor-completions/_uam")).toBe("#compdef uam");
    expect(files.has("usr/share/man/man1/uam.1.gz")).toBe(true);
  });

  test("packageFiles() contains the licence and the changelog", () => {
    const copyright = textOf("usr/share/doc/uam/copyright");
    expect(copyright).toMatch(/^Format: .*\nUpstream-Name: uam\n\nFiles: \*\nCopyright: 2026 .*\nLicense: Expat\n\n/);
    expect(copyright).toContain("\n Permission is hereby granted, free of charge");
    expect(copyright).toEndWith("\n SOFTWARE.\n");
    const changelogOf = (version: string) => {
      const gzipped = packageFiles({ ...program, version }).get("usr/share/doc/uam/changelog.gz");
      return gunzipSync(gzipped as Uint8Array).toString();
    };
    expect(changelogOf("1.2.3")).toBe(
      `uam (1.2.3) stable; urgency=medium\n\n  * Built from source.\n\n -- ${maintainer}  today\n`,
    );
    expect(changelogOf(manifest.version)).toStartWith(`uam (${manifest.version}) stable; urgency=medium\n\n  * `);
    expect(changelogOf(manifest.version)).not.toContain("Built from source.");
  });

  test("packageFiles() has the documents, what they copy from, and the collection", () => {
    const documents = DOCUMENTS_DIRECTORY.slice(1);
    const paths = textOf(`${documents}/docs/backup.md`).matchAll(/deploy\/systemd\/[\w.-]+/g);
    const named = [...paths].map(([path]) => path);
    expect(named).toContain("deploy/systemd/uam-backup.timer");
    for (const path of named) expect(files.has(`${documents}/${path}`)).toBe(true);
    for (const [, path] of textOf(`${documents}/README.md`).matchAll(/\]\((docs\/[\w/-]+\.md)/g))
      expect(files.has(`${documents}/${path}`)).toBe(true);
    expect(textOf(`${COLLECTION_DIRECTORY.slice(1)}/galaxy.yml`)).toContain("name: uam\n");
    expect([...files.keys()].filter((path) => path.includes("__pycache__") || path.endsWith(".webp"))).toEqual([]);
  });

  test("packageFiles() has scripts that the shell accepts and that never remove data or configuration", () => {
    for (const name of ["postinst", "prerm", "postrm"]) {
      const script = textOf(`DEBIAN/${name}`);
      expect(spawnSync("sh", ["-n"], { input: script }).status).toBe(0);
      expect(script).toStartWith("#!/bin/sh\nset -e\n");
      expect(script.match(/^\s*rm .*$/gm) ?? []).toEqual(
        name === "postrm" ? ["    rm -rf /var/cache/uam /var/cache/uam-agent"] : [],
      );
    }
  });

  test("packageFiles() has scripts that run the package's own program, whatever lies in /usr/local", () => {
    for (const name of ["postinst", "prerm"])
      expect(textOf(`DEBIAN/${name}`)).toStartWith("#!/bin/sh\nset -e\nPATH=/usr/sbin:/usr/bin:/sbin:/bin\n");
  });

  test("packageFiles() puts nothing under /etc: the service's files there are those of `uam install`", () => {
    expect([...files.keys()].filter((path) => path.startsWith("etc/"))).toEqual([]);
  });
});

describe("maintainerOf", () => {
  test("maintainerOf() reads name and address as Debian's tools do, and by default names nobody", () => {
    expect(maintainerOf({ DEBFULLNAME: "Ada L", DEBEMAIL: "ada@example.org" })).toBe("Ada L <ada@example.org>");
    expect(maintainerOf({ DEBEMAIL: "Ada L <ada@example.org>" })).toBe("Ada L <ada@example.org>");
    expect(maintainerOf({})).toBe("Unofficial build of uam <nobody@example.org>");
  });

  test.each(["ada", "a@example.org>, <b@example.org", "a@example.org\nDepends: evil", ""])(
    "maintainerOf() refuses %p, which would mean something else in a control file",
    (email) => {
      expect(() => maintainerOf({ DEBFULLNAME: "Ada", DEBEMAIL: email })).toThrow("DEBEMAIL");
    },
  );
});

describe("renderManual", () => {
  const nothing = { version: "1.0.0", commands: new Map(), examples: [], variables: [], files: [] };

  test("renderManual() shows text as it is, whatever it begins with", () => {
    const page = renderManual({
      ...nothing,
      commands: new Map([
        ["Daily work", [{ path: ["x"], usage: "uam x --json", brief: "'quoted", description: "", entries: [] }]],
      ]),
      variables: [{ name: "UAM_X", fallback: "a\\b", meaning: ".hidden" }],
    });
    expect(page).toContain("\n.B uam x \\-\\-json\n\\&'quoted\n");
    expect(page).toContain("\n\\&.hidden [a\\eb]\n");
  });

  test("packageFiles() has a manual page with commands, their options, files and examples", () => {
    const page = gunzipSync(files.get("usr/share/man/man1/uam.1.gz") as Uint8Array).toString();
    expect(page).toContain(".SS Daily work\n");
    expect(page).toContain("\n.B \\-\\-ttl\\-days DAYS\n");
    expect(page).toContain("\n.I /etc/uam/uam.env\n");
    expect(page).toContain(".SH EXAMPLES\n");
    expect(page).not.toContain("sweep");
  });
});
