/**
 * `bun run test:long compose`: deploy/compose with Debian's podman and podman-compose, as docs/install.md says, from one command to a
 * page, an administrator, a restart and a backup. The images are stand-ins under the names that it has, since no registry is asked:
 * Debian's PostgreSQL and Caddy, and the program that `bun run build` has made.
 */

import { chmodSync, copyFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { same, step } from "../../debian/steps.ts";
import { runToEnd } from "../../debian/to-end.ts";
import { copyTree, inTree, placeOfThisRun, removeCopies, requireBareTree } from "../../debian/tree.ts";
import { openPodman, type Podman } from "./podman.ts";

const PROJECT = join(import.meta.dir, "../../..");
const COMPOSE = join(PROJECT, "deploy/compose");
const BINARY = join(PROJECT, "dist/uam");
const PROGRAMS = {
  "/usr/bin/podman": "podman",
  "/usr/bin/podman-compose": "podman-compose",
  "/usr/lib/podman/netavark": "netavark",
};
const SITE = "https://localhost";
const LIMIT = 20 * 60_000;

/** Of the official image, what deploy/compose relies on. */
const ENTRYPOINT = `#!/bin/bash
set -eu
PGDATA=/var/lib/postgresql/18/docker
if [ "$(id -u)" = 0 ]; then
  mkdir -p "$PGDATA"; chown -R postgres /var/lib/postgresql; chmod 700 "$PGDATA"
  exec setpriv --reuid=postgres --regid=postgres --init-groups "$0" "$@"
fi
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  initdb -D "$PGDATA" --username=postgres --pwfile="$POSTGRES_PASSWORD_FILE" --auth-local=trust --auth-host=scram-sha-256 >/dev/null
  echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
  pg_ctl -D "$PGDATA" -o "-c listen_addresses='' -k /tmp" -w start >/dev/null
  for file in /docker-entrypoint-initdb.d/*.sh; do PGHOST=/tmp . "$file"; done
  pg_ctl -D "$PGDATA" -m fast -w stop >/dev/null
fi
exec postgres -D "$PGDATA" -c listen_addresses='*' -k /tmp
`;
const POSTGRES_PATH = "PATH=/usr/lib/postgresql/15/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

let podman: Podman | undefined;

async function main(): Promise<"tested"> {
  if (process.getuid?.() !== 0) throw new Error("Only root can do this here");
  for (const [program, debianPackage] of Object.entries(PROGRAMS)) {
    if (!existsSync(program)) throw new Error(`${program} is missing: apt-get install ${debianPackage}`);
  }
  if (!existsSync(BINARY)) throw new Error(`${BINARY} is missing: run "bun run build" first`);
  removeCopies();
  podman = await openPodman(placeOfThisRun("podman"));
  await makeImages(podman);
  await answersAfterOneCommand(podman);
  await keepsItsSecrets(podman);
  await survives(podman);
  return "tested";
}

async function makeImages(engine: Podman): Promise<void> {
  const bare = await step("a bare Debian tree", requireBareTree);
  const image = async (name: string, change: (root: string) => Promise<void>, ...changes: readonly string[]) =>
    await step(`a stand-in for ${name}`, async () => {
      const root = await copyTree(bare, `image-${changes.length}`);
      await change(root);
      const options = changes.map((each) => `--change '${each}'`).join(" ");
      await engine.sh(`tar -C ${root} -c . | podman import --quiet ${options} - ${name}; rm -rf ${root}`, 300);
    });
  const install = (packages: string) => (root: string) =>
    inTree(
      root,
      `apt-get -q update; DEBIAN_FRONTEND=noninteractive apt-get -qy --no-install-recommends install ${packages}`,
    );
  await image(
    "docker.io/library/postgres:18",
    async (root) => {
      await install("postgresql")(root);
      const path = join(root, "usr/local/bin/entrypoint");
      writeFileSync(path, ENTRYPOINT);
      chmodSync(path, 0o755);
    },
    `ENTRYPOINT ["/usr/local/bin/entrypoint"]`,
    `ENV ${POSTGRES_PATH}`,
  );
  await image(
    "docker.io/library/caddy:2",
    install("caddy"),
    `CMD ["caddy", "run", "--config", "/etc/caddy/Caddyfile"]`,
    "ENV XDG_DATA_HOME=/data",
    "EXPOSE 443",
  );
  await image(
    "localhost/uam:latest",
    async (root) => {
      copyFileSync(BINARY, join(root, "usr/local/bin/uam"));
      mkdirSync(join(root, "var/lib/uam"), { mode: 0o711 });
      await inTree(root, "chown 990:990 /var/lib/uam");
    },
    ...["USER 990:990", "ENV UAM_DATA_DIR=/var/lib/uam", "ENV UAM_HOST_MODE=dry-run", `CMD ["uam", "serve"]`],
  );
}

const up = (engine: Podman) => engine.sh(`cd ${COMPOSE} && podman-compose up -d`, 120);
/** In the service's container; podman-compose's own exec adds a line to what the command says. */
const uam = (engine: Podman, command: string) => engine.sh(`podman exec uam uam ${command}`);

/** Until the service answers through Caddy. */
async function answers(engine: Podman): Promise<void> {
  await engine.sh(`until curl --silent --insecure --fail ${SITE}/api/v1/readyz; do sleep 0.5; done`, 120);
}

async function answersAfterOneCommand(engine: Podman): Promise<void> {
  await step("one command, and a page answers, with TLS", async () => {
    await up(engine);
    await answers(engine);
    const page = await engine.sh(`curl --silent --insecure --fail ${SITE}/`);
    if (!page.startsWith("<!doctype html>")) throw new Error(page.slice(0, 300));
    const led = await engine.sh(
      "curl --silent --output /dev/null --write-out '%{http_code} %{redirect_url}' http://localhost/",
    );
    same(led, `308 ${SITE}/`, "where http leads");
  });
  await step("an administrator is made, and logs in, from their own address", async () => {
    const password = (await uam(engine, "admin add root-admin --email you@example.org")).trim();
    const login = JSON.stringify({ username: "root-admin", password });
    await engine.sh(
      `curl --silent --insecure --fail --header 'Content-Type: application/json' --data '${login}' ${SITE}/api/v1/auth/admin/login`,
    );
    const { items } = JSON.parse(await uam(engine, "audit list --json --action auth.admin_login"));
    if (!/^[\d.]+$|:/.test(items[0]?.ip ?? "")) throw new Error(`the login's address: ${JSON.stringify(items[0])}`);
  });
}

async function keepsItsSecrets(engine: Podman): Promise<void> {
  await step("secrets are files that only those see who need them, and in no configuration", async () => {
    const all = await engine.sh(
      "podman volume inspect --all --format '{{.Mountpoint}}' | xargs -I{} find {} -path '*secrets*' -type f",
    );
    same(String(all.trim().split("\n").length), "6", `the files ${all}`);
    const inspected = await engine.sh("podman inspect $(podman ps --all --quiet)");
    for (const path of all.trim().split("\n")) {
      const secret = await engine.sh(`cat ${path}`);
      if (inspected.includes(secret)) throw new Error(`${path} is in a container's configuration`);
      same(await engine.sh(`stat --format %a ${path}`), "600\n", path);
    }
    const mounts = await engine.sh(
      "podman inspect $(podman ps --quiet --filter name=caddy) --format '{{range .Mounts}}{{.Name}} {{end}}'",
    );
    if (mounts.includes("secrets")) throw new Error(`Caddy sees ${mounts}`);
  });
  await step("the service's role cannot change what is on record, and nothing but Caddy listens", async () => {
    const psql = "psql --host=127.0.0.1 --username=uam --dbname=uam --command='update audit set actor = 0'";
    const change = await engine.sh(
      `echo "PGPASSWORD=$(cat /secrets/service) ${psql} 2>&1 || true" | podman exec -i $(podman ps -q --filter name=database) sh`.replace(
        "$(cat",
        "\\$(cat",
      ),
    );
    if (!change.includes("permission denied")) throw new Error(`a change of the log: ${change}`);
    const ports = await engine.sh("podman ps --format '{{.Ports}}' | grep --only-matching '[0-9]*->' | sort --unique");
    same(ports, "443->\n80->\n", "the published ports");
  });
}

async function survives(engine: Podman): Promise<void> {
  await step("down and up again: the same data, the same secrets", async () => {
    const before = await uam(engine, "audit verify");
    await engine.sh(`cd ${COMPOSE} && podman-compose down`, 120);
    await up(engine);
    await answers(engine);
    const [count] = /\d+/.exec(before) ?? [];
    const after = await uam(engine, "audit verify");
    if (count === undefined || !after.includes(count)) throw new Error(`${before}, then ${after}`);
  });
  await step("a backup leaves by standard output, and can be restored", async () => {
    const path = join(placeOfThisRun("podman"), "uam.backup");
    await engine.sh(`podman exec uam uam backup - >${path}`);
    await engine.sh(`${BINARY} restore --check ${path}`);
  });
}

await runToEnd({
  name: "deploy/compose",
  main,
  limit: LIMIT,
  cleanUp: async () => {
    await podman?.stop();
    removeCopies();
  },
});
