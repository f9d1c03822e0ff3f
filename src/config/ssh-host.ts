/** Where users connect with ssh: HOST, HOST:PORT, an IPv6 address, or [ADDRESS]:PORT. */

import { isIPv6 } from "node:net";
import * as v from "valibot";

export interface SshHost {
  /** A name or an address, without brackets. */
  readonly host: string;
  readonly port: number;
}

const SSH_PORT = 22;
/** It must not begin with a dash: mails tell people to type it after `ssh`. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,252}$/;

export const sshHost = v.pipe(
  v.string(),
  v.rawTransform(({ dataset, addIssue, NEVER }): SshHost => {
    const parsed = parse(dataset.value);
    if (parsed !== undefined) return parsed;
    addIssue({ message: "must be HOST or HOST:PORT, as in ssh.example.org:2222" });
    return NEVER;
  }),
);

/** In the form that `UAM_SSH_HOST` accepts. */
export function formatSshHost({ host, port }: SshHost): string {
  if (port === SSH_PORT) return host;
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

function parse(text: string): SshHost | undefined {
  if (isIPv6(text)) return { host: text, port: SSH_PORT };
  const match = /^(?:\[([^\]]*)\]|([^[\]:]*))(?::(\d{1,5}))?$/.exec(text);
  const [, address = "", name = "", digits] = match ?? [];
  const port = digits === undefined ? SSH_PORT : Number(digits);
  if (port < 1 || port > 65_535) return undefined;
  if (isIPv6(address)) return { host: address, port };
  return NAME.test(name) ? { host: name, port } : undefined;
}
