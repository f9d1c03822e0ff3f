/** PostgreSQL's connection URLs, of which one may name several nodes: postgres://USER:PASSWORD@A:5432,B:5432/DATABASE. */

/** A server of the database. */
export interface Node {
  /** A name or an address, without brackets. */
  readonly host: string;
  readonly port: number;
}

export interface DatabaseUrl {
  /** Every node that is named; none if the URL leaves the host to a unix socket or to the environment. */
  readonly nodes: readonly Node[];
  /** The value of `target_session_attrs`, as libpq knows it; "" if absent. */
  readonly target: string;
  /** The part after the question mark. */
  readonly query: URLSearchParams;
  /** The URL with that node alone, or with none, and without the parameters that name or choose nodes. */
  readonly at: (node?: Node) => string;
}

const SHAPE = /^(postgres(?:ql)?:\/\/(?:[^/?#@]*@)?)([^/?#@]*)([/?#].*|)$/;
const NODE = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/;
const DEFAULT_PORT = 5432;

/** Undefined for any other text. */
export function parseDatabaseUrl(text: string): DatabaseUrl | undefined {
  const [, begin, authority = "", rest = ""] = SHAPE.exec(text) ?? [];
  if (begin === undefined) return undefined;
  const alone = `${begin}${authority.includes(",") ? "any" : authority}${rest}`;
  if (!URL.canParse(alone)) return undefined;
  const { searchParams } = new URL(alone);
  const inQuery = authority === "" && searchParams.get("host")?.includes(",") === true;
  const named = inQuery ? withPorts(searchParams) : authority === "" ? [] : authority.split(",");
  const nodes: Node[] = [];
  for (const name of named) {
    const [, address, host = address, port = DEFAULT_PORT] = NODE.exec(name) ?? [];
    if (host === undefined || Number(port) > 65_535) return undefined;
    nodes.push({ host: decodeURIComponent(host), port: Number(port) });
  }
  return {
    nodes,
    query: searchParams,
    target: searchParams.get("target_session_attrs") ?? "",
    at: (node) => {
      const shown = node === undefined ? "" : `${node.host.includes(":") ? `[${node.host}]` : node.host}:${node.port}`;
      const url = new URL(`${begin}${node === undefined ? authority : shown}${rest}`);
      url.searchParams.delete("target_session_attrs");
      if (inQuery) for (const name of ["host", "port"]) url.searchParams.delete(name);
      return url.href;
    },
  };
}

/** The nodes of libpq's `?host=a,b&port=1,2`, as `a:1` and `b:2`; one port is for all. */
function withPorts(searchParams: URLSearchParams): readonly string[] {
  const ports = searchParams.get("port")?.split(",") ?? [];
  return (searchParams.get("host") ?? "").split(",").map((host, index) => {
    const port = ports[index] ?? ports[0];
    return port ? `${host}:${port}` : host;
  });
}

/** Whether a URL names more than one node, or asks for the one that takes changes: then that node must be found. */
export function choosesNode({ nodes, target }: DatabaseUrl): boolean {
  return nodes.length > 1 || (target !== "" && nodes.length > 0);
}

/** The fault in the nodes of a URL, as the end of a sentence; undefined if there is none. */
export function databaseUrlFault(text: string): string | undefined {
  const url = parseDatabaseUrl(text);
  if (url === undefined) return "must be a URL such as postgres://USER:PASSWORD@HOST:PORT/DATABASE";
  if (["", "any", "read-write", "primary"].includes(url.target)) return undefined;
  return `asks for target_session_attrs=${url.target}, but the service needs the node that takes changes: read-write`;
}
