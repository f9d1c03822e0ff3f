/** A real SMTP server for tests: Debian's exim4-daemon-light, on a loopback port, with STARTTLS and a login, which keeps its mail. */

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HANG } from "./hang.ts";
import { freePort } from "./port.ts";

export interface SmtpServer {
  readonly port: number;
  /** Its self-signed certificate for `localhost`. */
  readonly ca: string;
  readonly user: "mailer";
  readonly password: "s3cret%/@";
  /** The complete messages that it accepted, in no order. */
  inbox(): readonly string[];
  /** Lets the mails to `slow@…` in, from now on. */
  release(): void;
  /** Stops listening and cuts connections. */
  stop(): Promise<void>;
  /** Listens again on the same port. */
  start(): Promise<void>;
  /** Stops it and removes its files. */
  remove(): Promise<void>;
}

const EXIM = "/usr/sbin/exim4";
/** Seconds after which a mail that nobody lets in is let in all the same. */
const LONGEST_HOLD = 300;

/**
 * Starts a server that accepts mail for any address after a login, refuses `refused@…` with 550, defers `later@…` with 451 and lets
 * `slow@…` wait until it is released. Throws if the Debian package is missing.
 */
export async function startSmtpServer(): Promise<SmtpServer> {
  if (spawnSync(EXIM, ["-bV"]).error)
    throw new Error("These tests need an SMTP server: apt install exim4-daemon-light");
  const directory = mkdtempSync(join(tmpdir(), "uam-smtp-"));
  for (const name of ["spool", "log", "inbox"]) mkdirSync(join(directory, name));
  const ca = makeCertificate(directory);
  const port = await freePort();
  const config = join(directory, "exim.conf");
  const hold = join(directory, "hold");
  writeFileSync(hold, "");
  writeFileSync(config, configuration(directory, { port, hold }), { mode: 0o644 });
  giveToExim(directory);
  let daemon: ChildProcess | undefined;

  const server: SmtpServer = {
    port,
    ca,
    user: "mailer",
    password: "s3cret%/@",
    inbox: () =>
      readdirSync(join(directory, "inbox"))
        // exim locks a mailbox by files beside it, for a moment: <name>.lock and <name>.lock.<host>.<time>.<pid>.
        .filter((name) => /^[\w-]+$/.test(name))
        .map((name) => readFileSync(join(directory, "inbox", name), "utf8"))
        // exim writes a file piece by piece; one that ends with the last boundary is complete.
        .filter((mail) => /--\s*$/.test(mail)),
    release: () => rmSync(hold, { force: true }),
    async start() {
      daemon = spawn(EXIM, ["-C", config, "-bdf", "-q1h"], { stdio: "ignore", detached: true });
      await answers(port);
    },
    async stop() {
      const { pid, exitCode } = daemon ?? {};
      if (!daemon || pid === undefined || exitCode !== null) return;
      const ended = new Promise((resolve) => daemon?.once("exit", resolve));
      process.kill(-pid, "SIGKILL");
      await ended;
      daemon = undefined;
    },
    async remove() {
      await server.stop();
      rmSync(directory, { recursive: true });
    },
  };
  await server.start();
  return server;
}

function configuration(directory: string, { port, hold }: { readonly port: number; readonly hold: string }): string {
  const heldForASecond = `  warn local_parts = slow
    condition = \${if exists{${hold}}}
    delay = 1s
`;
  return `
primary_hostname = localhost
spool_directory = ${directory}/spool
log_file_path = ${directory}/log/%slog
pid_file_path = ${directory}/exim.pid
local_interfaces = 127.0.0.1
daemon_smtp_ports = ${port}
tls_advertise_hosts = *
tls_certificate = ${directory}/cert.pem
tls_privatekey = ${directory}/key.pem
auth_advertise_hosts = \${if def:tls_in_cipher {*}{}}
host_lookup =
rfc1413_hosts =
check_spool_space = 0
keep_environment =
deliver_drop_privilege = true
smtp_accept_max = 50
acl_smtp_rcpt = rcpt
acl_smtp_data = accept
begin acl
rcpt:
  deny message = Log in first
    ! authenticated = *
  deny message = There is no such mailbox
    local_parts = refused
  defer message = Come back later
    local_parts = later
${heldForASecond.repeat(LONGEST_HOLD)}  accept
begin routers
everything:
  driver = accept
  transport = keep
begin transports
keep:
  driver = appendfile
  file = ${directory}/inbox/$message_exim_id
  envelope_to_add
begin authenticators
plain:
  driver = plaintext
  public_name = PLAIN
  server_prompts = :
  server_condition = \${if and{{eq{$auth2}{mailer}}{eq{$auth3}{s3cret%/@}}}}
  server_set_id = $auth2
`;
}

function makeCertificate(directory: string): string {
  const [key, certificate] = [join(directory, "key.pem"), join(directory, "cert.pem")];
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
  const made = spawnSync("openssl", [
    ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"],
    ...["-keyout", key, "-out", certificate, ...subject],
  ]);
  if (made.status !== 0) throw new Error(`openssl could not make a certificate: ${made.stderr}`);
  return certificate;
}

/** Started by root, exim runs as its own user; started by anybody else, as that user. */
function giveToExim(directory: string): void {
  chmodSync(directory, 0o755);
  if (process.getuid?.() === 0) spawnSync("chown", ["-R", "Debian-exim:Debian-exim", directory]);
  if (process.getuid?.() === 0) spawnSync("chown", ["root:root", join(directory, "exim.conf")]);
}

async function answers(port: number): Promise<void> {
  const deadline = Date.now() + HANG;
  while (!(await canConnect(port))) {
    if (Date.now() > deadline) throw new Error("The SMTP server did not start within a minute");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function canConnect(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}
