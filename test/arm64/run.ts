/**
 * `bun test/arm64/run.ts`: dist/uam-arm64 on this machine of another architecture, by qemu-user. Exit code 1 if anything is
 * wrong or missing.
 */

import { chmodSync, closeSync, existsSync, mkdtempSync, openSync, readFileSync, readSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { binaryPath } from "../../src/build/build.ts";
import { VERSION } from "../../src/shared/version.ts";
import { must } from "../debian/shell.ts";
import { same, step } from "../debian/steps.ts";
import { runToEnd } from "../debian/to-end.ts";
import { arm64Libraries } from "./libraries.ts";
import { type Arm64Machine, EMULATOR, openMachine } from "./machine.ts";

const BINARY = binaryPath("arm64");
const EM_AARCH64 = 183;
/** A uid that nobody has. */
const SWEPT = "58690";
const PNG = "89504e470d0a1a0a";
/** Seconds for each command; emulated, with two processors and fifteen busy processes, a first start has taken 70. */
const PATIENCE = 180;

const directory = mkdtempSync(join(tmpdir(), "uam-arm64-"));
let machine: Arm64Machine | undefined;

async function main(): Promise<"tested"> {
  if (process.arch === "arm64") throw new Error("This machine is arm64 itself: its dist/uam is tested as it is");
  if (process.getuid?.() !== 0) throw new Error("Only root can give the namespace every uid");
  if (!existsSync(EMULATOR)) throw new Error(`${EMULATOR} is missing: apt-get install qemu-user`);
  if (!existsSync(BINARY)) throw new Error(`${BINARY} is missing: run "bun run build --arch arm64" first`);
  same(String(elfMachine(BINARY)), String(EM_AARCH64), "the machine that the binary is for");
  chmodSync(directory, 0o711);
  const libraries = await step("Debian's libraries for arm64", () => arm64Libraries(directory));
  const opened = await step("an arm64 machine", () => openMachine(libraries));
  machine = opened;
  const data = join(directory, "data");
  const socket = join(directory, "socket");
  const variables = { UAM_DATA_DIR: data, UAM_LISTEN: `unix:${socket}`, UAM_LOG_LEVEL: "warn" };
  const uam = (...args: readonly string[]) => opened.must([BINARY, ...args], variables, PATIENCE);

  await step("it reports its build, and lists its commands", async () => {
    const commit = (await must(["git", "-C", import.meta.dir, "rev-parse", "--short=12", "HEAD"], 5)).trim();
    same(await uam("version"), `uam ${VERSION}, bun ${Bun.version}, commit ${commit}\n`, "uam version");
    if (!/^ +migrate +\S/m.test(await uam("--help"))) throw new Error("--help does not list the commands");
  });
  await step("it sweeps, with that architecture's system call numbers", async () => {
    const as = ["setpriv", "--reuid", SWEPT, "--regid", SWEPT, "--clear-groups", "--"];
    const swept = opened.start([...as, "sleep", "600"], {});
    await Bun.sleep(200);
    await uam("sweep", SWEPT);
    await swept.exited;
    same(String(swept.signalCode), "SIGKILL", "what ended the process of that uid");
  });
  await step("it unpacks its PostgreSQL, initialises it and migrates", async () => {
    await uam("migrate");
    const log = readFileSync(join(data, "postgres/server.log"), "utf8");
    if (!log.includes("on aarch64-unknown-linux-gnu")) throw new Error(`not the server for arm64: ${log}`);
  });
  const service = opened.start([BINARY, "serve"], variables);
  await step("it serves", () => uam("healthcheck", "--wait", `${PATIENCE}s`));
  await step("a captcha is drawn", async () => {
    const { image } = await ask<{ readonly image: string }>(socket, "/auth/captcha");
    const picture = Buffer.from(image.replace("data:image/png;base64,", ""), "base64");
    same(picture.subarray(0, 8).toString("hex"), PNG, "the head of the picture");
  });
  await step("an administrator is created, and logs in with the password", async () => {
    const password = (await uam("admin", "add", "root-admin", "--email", "admin@example.org")).trim();
    const principal = await ask<{ readonly username: string }>(socket, "/auth/admin/login", {
      username: "root-admin",
      password,
    });
    same(principal.username, "root-admin", "who is logged in");
  });
  await step("it stops cleanly", async () => {
    await opened.must(["pkill", "-TERM", "--full", `${BINARY} serve`], {}, 10);
    same(String(await service.exited), "0", "the exit code");
  });
  return "tested";
}

/** The `data` of an API answer; throws unless it is a success. */
async function ask<Data>(socket: string, path: string, body?: object): Promise<Data> {
  const response = await fetch(`http://127.0.0.1:8080/api/v1${path}`, {
    unix: socket,
    signal: AbortSignal.timeout(PATIENCE * 1000),
    ...(body === undefined
      ? {}
      : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${path} answered ${response.status}: ${text}`);
  return (JSON.parse(text) as { readonly data: Data }).data;
}

/** e_machine of elf(5), of a little-endian file. */
function elfMachine(path: string): number {
  const head = Buffer.alloc(20);
  const fd = openSync(path, "r");
  readSync(fd, head);
  closeSync(fd);
  return head.readUInt16LE(18);
}

async function cleanUp(): Promise<void> {
  await machine?.stop();
  rmSync(directory, { recursive: true, force: true });
}

await runToEnd({ name: "arm64", main, cleanUp });
