/** The values of `UAM_LISTEN` and `UAM_METRICS`: where to listen. */

import * as v from "valibot";

/** Where the service listens. */
export type Listen =
  | { readonly kind: "tcp"; readonly hostname: string; readonly port: number }
  | { readonly kind: "unix"; readonly path: string };

/** ADDRESS:PORT or unix:/PATH. */
export const listen = v.pipe(
  v.string(),
  v.regex(/^(unix:\/.+|[^\s/]+:\d{1,5})$/, "must be ADDRESS:PORT or unix:/PATH"),
  v.check(
    (value) => value.startsWith("unix:") || Number(value.slice(value.lastIndexOf(":") + 1)) < 65_536,
    "has a port above 65535",
  ),
  v.transform((value): Listen => {
    if (value.startsWith("unix:")) return { kind: "unix", path: value.slice(5) };
    const colon = value.lastIndexOf(":");
    return {
      kind: "tcp",
      hostname: value.slice(0, colon).replace(/^\[(.*)\]$/, "$1"),
      port: Number(value.slice(colon + 1)),
    };
  }),
);

/** The address in the form that `UAM_LISTEN` accepts. */
export function formatListen(listen: Listen): string {
  if (listen.kind === "unix") return `unix:${listen.path}`;
  return `${listen.hostname.includes(":") ? `[${listen.hostname}]` : listen.hostname}:${listen.port}`;
}
