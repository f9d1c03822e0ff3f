/** Where audit records are streamed to, as UAM_AUDIT_STREAM names it. */

export type AuditStream =
  | { readonly kind: "syslog"; readonly tls: boolean; readonly host: string; readonly port: number }
  | { readonly kind: "file"; readonly path: string };

/** Those that IANA registered for syslog over TCP (RFC 6587) and over TLS (RFC 5425). */
const PORTS = { "syslog:": 601, "syslog+tls:": 6514 } as const;

/** The stream that the text names; undefined if it names none. */
export function parseAuditStream(text: string): AuditStream | undefined {
  const path = /^file:(?:\/\/)?(\/[^\0]*[^\0/])$/.exec(text)?.[1];
  if (path !== undefined) return { kind: "file", path };
  if (!/^syslog(\+tls)?:\/\//.test(text) || !URL.canParse(text)) return undefined;
  const { protocol, hostname, port, pathname, username, password, search, hash } = new URL(text);
  const isBare = /^\/?$/.test(pathname) && `${username}${password}${search}${hash}` === "";
  if (!isBare || hostname === "" || port === "0") return undefined;
  const fallback = protocol === "syslog:" ? PORTS["syslog:"] : PORTS["syslog+tls:"];
  return {
    ...{ kind: "syslog", tls: protocol === "syslog+tls:", host: hostname.replace(/^\[(.*)\]$/, "$1") },
    port: port === "" ? fallback : Number(port),
  };
}
