/**
 * `bun test/container/run.ts`: the image that the Containerfile builds from a clean checkout of HEAD, and what it does. buildah
 * builds it, systemd-nspawn runs it as its configuration says. The base images are stand-ins, since no image registry is
 * used: a bare Debian from Debian's archive, and the same with the Bun that runs this, under the names that the Containerfile
 * has. With `--same-as FILE` the program in the image must be that file, byte by byte. With `--image FILE` it builds nothing, and takes
 * the image of a release. Exit code 1 if anything is wrong or missing.
 */

import { chmodSync, copyFileSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { VERSION } from "../../src/shared/version.ts";
import { endChildren, must } from "../debian/shell.ts";
import { at, same, say, step } from "../debian/steps.ts";
import { runToEnd } from "../debian/to-end.ts";
import { placeOfThisRun, RELEASE, removeCopies, requireBareTree } from "../debian/tree.ts";
import { createTestDatabase, stopTestServer } from "../support/database.ts";
import { type PostgresProxy, startPostgresProxy } from "../support/postgres-proxy.ts";
import { openArchive } from "./archive.ts";
import { openStorage } from "./buildah.ts";
import { type Circumstances, type Image, type Running, runOnce, start } from "./engine.ts";

const PROJECT = join(import.meta.dir, "../..");
const PROGRAMS = {
  "/usr/bin/buildah": "buildah",
  "/usr/sbin/debootstrap": "debootstrap",
  "/usr/bin/systemd-nspawn": "systemd-container",
  "/usr/bin/curl": "curl",
  "/usr/bin/git": "git",
};
const NAME = "localhost/uam";
const BUN_IMAGE = `docker.io/oven/bun:${Bun.version}-debian`;
const DEBIAN_IMAGE = `docker.io/library/debian:${RELEASE}-slim`;
/** The certificates that this machine trusts, and where Bun looks for them besides its own list. */
const CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt";
const BUNS_CERTIFICATES = "etc/ssl/cert.pem";
/** Where PostgreSQL is once it was compiled, and where the Containerfile looks for it. */
const SERVERS = "/var/cache/uam-build:/mnt";
const VOLUME = "/var/lib/uam";
const DATABASE = "/mnt";
const UID = "990";
const API = "http://127.0.0.1:8080/api/v1";
const SECOND_IN_NANOSECONDS = 1e9;
/** What Debian's own tools write when packages and users are added, besides the packages' files. */
const DEBIAN_WRITES =
  /^(etc|usr\/lib\/ssl|usr\/local\/share\/ca-certificates|var\/(cache\/apt\/archives|lib\/apt|lib\/dpkg|log))(\/|$)/;
const LIMIT = 12 * 60_000;

const directory = placeOfThisRun("image");
const running = new Set<Running>();
let proxy: PostgresProxy | undefined;

async function main(): Promise<"tested"> {
  const { values } = parseArgs({ options: { "same-as": { type: "string" }, image: { type: "string" } } });
  if (process.getuid?.() !== 0) throw new Error("Only root can build and run the image here");
  for (const [program, debianPackage] of Object.entries(PROGRAMS)) {
    if (!existsSync(program)) throw new Error(`${program} is missing: apt-get install ${debianPackage}`);
  }
  removeCopies();
  mkdirSync(directory, { mode: 0o700 });
  const image = values.image === undefined ? await builtImage() : await openArchive(values.image, directory);
  await step("the image's configuration", async () => checkConfig(image));
  if (values["same-as"] !== undefined) {
    const [inImage, other] = [join(image.root, "usr/local/bin/uam"), values["same-as"]];
    await step("its program is that of the other build, byte by byte", () => must(["cmp", inImage, other], 30));
  }
  await withEmbeddedDatabase(image);
  await withExternalDatabase(image);
  return "tested";
}

/** HEAD as it would be cloned; returns its path. */
async function cleanCheckout(): Promise<string> {
  const checkout = join(directory, "checkout");
  await must(["git", "clone", "--quiet", PROJECT, checkout], 60);
  same(await must(["git", "-C", checkout, "status", "--porcelain", "--ignored"], 10), "", "what is not committed");
  return checkout;
}

/** The Containerfile's, with nothing in it that should not be there. */
async function builtImage(): Promise<Image> {
  const tree = await step("a bare Debian tree", requireBareTree);
  const checkout = await step("a clean checkout", cleanCheckout);
  const storage = openStorage(join(directory, "storage"));
  await step("stand-ins for the base images", async () => {
    const bases = readFileSync(join(checkout, "Containerfile"), "utf8").matchAll(/^FROM (\S+)/gm);
    same([...bases].map((match) => match[1]).join(" "), `${BUN_IMAGE} ${DEBIAN_IMAGE}`, "the base images");
    await storage.makeImage(DEBIAN_IMAGE, tree, async () => {});
    await storage.makeImage(BUN_IMAGE, tree, makeBunImage);
  });
  await step("buildah builds the image with the Containerfile", () => storage.build(checkout, NAME, SERVERS));
  const image = { config: await storage.configOf(NAME), root: await storage.unpack(NAME) };
  await step("the image contains Debian, the program, and nothing else", () => checkContents(image.root, tree));
  return image;
}

/** Bun is where its image has it; packages come from this machine's sources, which are not part of the project. */
async function makeBunImage(root: string): Promise<void> {
  const program = join(root, "usr/local/bin/bun");
  copyFileSync(process.execPath, program);
  chmodSync(program, 0o755);
  mkdirSync(join(root, "etc/ssl"), { recursive: true });
  if (existsSync(CERTIFICATES)) copyFileSync(CERTIFICATES, join(root, BUNS_CERTIFICATES));
  const settings = join(homedir(), ".npmrc");
  if (existsSync(settings)) copyFileSync(settings, join(root, "root/.npmrc"));
}

function checkConfig({ config }: Image): void {
  const { User, Env, Entrypoint, Cmd, Volumes, ExposedPorts, StopSignal, Healthcheck } = config;
  const seen = { User, Entrypoint, Cmd, Volumes: Object.keys(Volumes), Ports: Object.keys(ExposedPorts), StopSignal };
  const expected = {
    User: "990:990",
    Entrypoint: [],
    Cmd: ["uam", "serve"],
    Volumes: [VOLUME],
    Ports: ["8080/tcp"],
    StopSignal: "SIGTERM",
  };
  same(JSON.stringify(seen), JSON.stringify(expected), "the configuration");
  const { Test, Interval, StartPeriod } = Healthcheck ?? {};
  const healthcheck = { Test, Interval, StartPeriod };
  const second = SECOND_IN_NANOSECONDS;
  const wanted = { Test: ["CMD", "uam", "healthcheck"], Interval: 30 * second, StartPeriod: 60 * second };
  same(JSON.stringify(healthcheck), JSON.stringify(wanted), "the health check");
  const variables = Env.filter((variable) => !variable.startsWith("PATH=")).join(" ");
  const ours = `UAM_DATA_DIR=${VOLUME} UAM_LISTEN=0.0.0.0:8080 UAM_HOST_MODE=dry-run BUN_JSC_heapGrowthMaxIncrease=1`;
  same(variables, ours, "the environment");
}

/** Besides the base there are only files of Debian's packages, and the program. */
async function checkContents(root: string, tree: string): Promise<void> {
  const base = new Set(await pathsIn(tree));
  const added = (await pathsIn(root)).filter((path) => !base.has(path));
  const lists = added.filter((path) => /^var\/lib\/dpkg\/info\/.*\.list$/.test(path));
  const packages = lists.map((path) => /([^/:]+)(:\w+)?\.list$/.exec(path)?.[1]);
  same(packages.join(" "), "ca-certificates libssl3 openssl", "the packages that were added");
  const owned = new Set(lists.flatMap((path) => readFileSync(join(root, path), "utf8").split("\n")));
  const rest = added.filter((path) => !owned.has(`/${path}`) && !DEBIAN_WRITES.test(path));
  const ours = "usr/local/bin/uam usr/share/doc/uam usr/share/doc/uam/uam.cdx.json var/lib/uam";
  same(rest.join(" "), ours, "what is in no package");
  for (const place of ["var/lib/apt/lists", "var/cache/apt/archives"]) {
    same(
      (await pathsIn(join(root, place))).filter((path) => /deb|\.bin$/.test(path)).join(" "),
      "",
      `leftovers of apt`,
    );
  }
  const { uid, mode } = lstatSync(join(root, VOLUME));
  same(`${uid} ${(mode & 0o7777).toString(8)}`, `${UID} 711`, "owner and mode of the volume's directory");
  const size = await must(["du", "--apparent-size", "-sB1000000", root], 30);
  say(`      ${Number.parseInt(size, 10)} MB; Debian's own image has less in it than the stand-in`);
}

async function pathsIn(top: string): Promise<readonly string[]> {
  const found = await must(["find", top, "-xdev", "-mindepth", "1", "-printf", "%P\\n"], 30);
  return found.trimEnd().split("\n").sort();
}

/** The image without settings: the database is its own, in the volume. */
async function withEmbeddedDatabase(image: Image): Promise<void> {
  const volume = await newVolume(image, "volume");
  const circumstances = { binds: { [VOLUME]: volume } };
  await step("the program reports its build, and that no service answers yet", async () => {
    const commit = (await must(["git", "-C", PROJECT, "rev-parse", "--short=12", "HEAD"], 5)).trim();
    const { stdout } = await runOnce(image, circumstances, ["uam", "version"]);
    same(stdout, `uam ${VERSION}, bun ${Bun.version}, commit ${commit}\n`, "uam version");
    const { status, stderr } = await runOnce(image, circumstances, healthcheckOf(image));
    same(String(status), "1", `the exit code of the health check (${stderr})`);
  });
  const { result: password, log } = await whileServing("it", image, circumstances, async (container) => {
    await step("all of it runs without privileges, on read-only files", () => checkRights(container, "postgres uam"));
    return await step("an administrator creates a user", async () => {
      const made = await makeAdministrator(container);
      await logIn(container, made);
      const user = await ask(container, "/users", { username: "alice", email: "alice@example.org" });
      same(String(user.status), "active", "the user's status");
      return made;
    });
  });
  if (!/useradd.*ext_alice/.test(log)) throw new Error(`the user's account was not planned: ${log}`);
  await whileServing("another container with the same volume", image, circumstances, (container) =>
    step("what was stored is still there", async () => {
      await logIn(container, password);
      same(String((await ask(container, "/users")).total), "1", "the number of users");
    }),
  );
  if (existsSync(join(volume, "postgres/data/postmaster.pid"))) throw new Error("PostgreSQL was not stopped");
}

/** The image with UAM_DATABASE_URL, and PostgreSQL's socket in it. */
async function withExternalDatabase(image: Image): Promise<void> {
  const { connection, drop } = await createTestDatabase();
  if ("url" in connection) throw new Error("the test database is expected on a unix socket");
  // The server accepts only root, not the container's user: that user connects to a proxy, which is root's.
  proxy = await startPostgresProxy(connection);
  if ("url" in proxy.connection) throw new Error("the proxy is expected on a unix socket");
  const sockets = proxy.connection.host;
  chmodSync(sockets, 0o711);
  for (const name of readdirSync(sockets)) chmodSync(join(sockets, name), 0o777);
  const volume = await newVolume(image, "volume-beside-a-database");
  const url = `postgres://${connection.username}@localhost/${connection.database}?host=${DATABASE}`;
  const circumstances = { binds: { [VOLUME]: volume, [DATABASE]: sockets }, variables: { UAM_DATABASE_URL: url } };
  await whileServing("with an external database it", image, circumstances, (container) =>
    step("an administrator logs in, and there is no other database", async () => {
      await logIn(container, await makeAdministrator(container));
      await checkRights(container, "uam");
      if (existsSync(join(volume, "postgres"))) throw new Error("an embedded database was made");
    }),
  );
  await drop();
}

/** A new volume, which an engine fills with what the image has in its place; its path here. */
async function newVolume({ root }: Image, name: string): Promise<string> {
  const volume = join(directory, name);
  await must(["cp", "--archive", join(root, VOLUME), volume], 10);
  return volume;
}

/** Does the work while a container serves and is healthy, and stops it cleanly; also returns what it logged. */
async function whileServing<Result>(
  what: string,
  image: Image,
  circumstances: Circumstances,
  work: (container: Running) => Promise<Result>,
): Promise<{ readonly result: Result; readonly log: string }> {
  const container = await start(image, circumstances);
  running.add(container);
  try {
    await step(`${what} serves, and is healthy`, () => container.exec([...healthcheckOf(image), "--wait", "60s"], 70));
    const result = await work(container);
    const log = await step(`${what} ends in order on ${image.config.StopSignal}`, async () => {
      const { status, stderr } = await container.stop();
      same(String(status), "0", `the exit code (${stderr})`);
      if (!stderr.includes('"message":"stopped"')) throw new Error(`it does not say that it stopped: ${stderr}`);
      if (stderr.includes('"level":"ERROR"')) throw new Error(`it logged an error: ${stderr}`);
      return stderr;
    });
    return { result, log };
  } catch (error) {
    console.error(`What it said:\n${await container.kill()}`);
    throw error;
  } finally {
    running.delete(container);
  }
}

/** The health check's program, in the form that is run without a shell. */
function healthcheckOf({ config }: Image): readonly string[] {
  const [form, ...argv] = config.Healthcheck?.Test ?? [];
  same(String(form), "CMD", "the form of the health check");
  return argv;
}

/**
 * Throws unless the processes are of the `expected` programs, by name, and are all the image's user's and have no capability, and
 * the container's files are read-only.
 */
async function checkRights(container: Running, expected: string): Promise<void> {
  const statuses = (await container.pids()).flatMap(statusOf);
  const programs = new Set(statuses.map((field) => field("Name")));
  same([...programs].sort().join(" "), expected, "the programs that run");
  for (const field of statuses) {
    const seen = [field("Uid"), field("Gid"), field("Groups"), field("CapPrm"), field("NoNewPrivs")].join(" ");
    const ids = Array.from({ length: 4 }, () => UID).join("\t");
    same(seen, `${ids} ${ids}  0000000000000000 1`, `ids, groups and capabilities of ${field("Name")}`);
  }
  const mounts = readFileSync(`/proc/${container.pid}/mountinfo`, "utf8");
  if (!/^\S+ \S+ \S+ \S+ \/ ro[, ]/m.test(mounts)) throw new Error(`the root can be written: ${mounts}`);
  if (/^\S+ \S+ \S+ \S+ \/tmp /m.test(mounts)) throw new Error(`/tmp can be written: ${mounts}`);
}

/** The fields of a process in proc(5), by name; none if it has ended. */
function statusOf(pid: number): readonly ((name: string) => string | undefined)[] {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return [(name) => new RegExp(`^${name}:\t(.*)$`, "m").exec(status)?.[1]?.trim()];
  } catch {
    return [];
  }
}

async function makeAdministrator(container: Running): Promise<string> {
  return (await container.exec(["uam", "admin", "add", "root-admin", "--email", "admin@example.org"], 30)).trim();
}

async function logIn(container: Running, password: string): Promise<void> {
  const { username } = await ask(container, "/auth/admin/login", { username: "root-admin", password });
  same(String(username), "root-admin", "who is logged in");
}

/** The `data` of an answer of the API, with the session of the last login; throws unless it is a success. */
async function ask(container: Running, path: string, body?: object): Promise<Readonly<Record<string, unknown>>> {
  const cookies = join(directory, "cookies.txt");
  const post = body === undefined ? [] : ["--header", "Content-Type: application/json", "--data", JSON.stringify(body)];
  const curl = ["curl", "--silent", "--show-error", "--fail-with-body", "--max-time", "20"];
  const answer = await container.beside(
    [...curl, "--cookie", cookies, "--cookie-jar", cookies, ...post, API + path],
    25,
  );
  return JSON.parse(answer).data;
}

async function cleanUp(): Promise<void> {
  await Promise.all([...running].map((container) => container.kill()));
  proxy?.close();
  await stopTestServer();
  await endChildren(directory);
  removeCopies();
}

await runToEnd({ name: "The image", main: () => at("image", main), cleanUp, limit: LIMIT });
