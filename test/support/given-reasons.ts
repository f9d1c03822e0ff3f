/** Which reasons the code behind a route can give, as far as its text shows: by the names that each declaration uses. */

import { posix } from "node:path";
import { DEFAULT_REASONS, type ErrorCode } from "../../src/shared/errors.ts";
import { REASONS } from "../../src/shared/product/reasons.ts";
import { codeOf, type Source } from "../structure/source.ts";

interface Declaration {
  /** The declarations that it names, as "path#name". */
  readonly uses: readonly string[];
  readonly reasons: readonly string[];
}

/** What is called through an object that `compose.ts` or the application makes, and so by no name that is imported. */
const INDIRECT: readonly { readonly called: RegExp; readonly found: string }[] = [
  { called: /\b(?:\w*[hH]ost|planner)\b\)*\.\w+\(|Host(?:Of|\()/, found: "host/" },
  { called: /\bhasher\b/, found: "shared/work/bounded.ts" },
  { called: /\b(?:exportPlaces|deliveryPlaces|gate)\b/, found: "shared/work/bounded.ts" },
  { called: /\bexportPlaces\b/, found: "domain/audit/export-places.ts" },
  { called: /\bprovider\b/, found: "server/sso/" },
  { called: /\blimits\b/, found: "domain/auth/sessions/rate-limits.ts" },
  { called: /\bfleet\(\)/, found: "domain/wire/" },
  { called: /\bfleet\(\)/, found: "shared/work/bounded.ts" },
];

/** By route, such as "GET /users": the reasons in all that its handler leads to. */
export function reasonsGiven(source: Source): ReadonlyMap<string, ReadonlySet<string>> {
  const files = new Map(
    [...source].filter(([path]) => !IGNORED.test(path)).map(([path, text]) => [path, codeOf(text)]),
  );
  const declarations = new Map([...files].flatMap(([path, text]) => declarationsOf(path, text)));
  const indirect = new Map(INDIRECT.map(({ found }) => [found, reasonsBelow(files, found)]));
  const handlers = [...declarations.keys()].filter((name) => name.startsWith(HANDLER));
  return new Map(
    handlers.map((handler) => [handler.slice(HANDLER.length), reachedFrom(handler, declarations, indirect)]),
  );
}

/** Neither the table of reasons itself nor what only says which of them somebody else has given. */
const IGNORED = /^(?:console|contract|build|cli)\/|^shared\/(?:errors|product\/(?:reasons|sso-outcomes))\.ts$/;
const HANDLER = "handler of ";

/** The top-level declarations of a file, by the formatter's layout, and its handlers of routes. */
function declarationsOf(path: string, text: string): readonly (readonly [string, Declaration])[] {
  const imported = importedBy(path, text);
  const parts = text.split(/^(?=(?:export )?(?:async )?(?:function\*?|const|class) | {2}"[A-Z]+ \/)/m);
  const named = parts.flatMap((part) => {
    const [, route] = /^ {2}"([A-Z]+ \/[^"]*)": /.exec(part) ?? [];
    const [, name] = /^(?:export )?(?:async )?(?:function\*?|const|class) (\w+)/.exec(part) ?? [];
    const key = route === undefined ? `${path}#${name}` : HANDLER + route;
    return route === undefined && name === undefined ? [] : [{ key, part }];
  });
  const local = new Set(named.map(({ key }) => key));
  return named.map(({ key, part }) => {
    const words = [...new Set(part.match(/\w+/g) ?? [])];
    const uses = words.flatMap((word) => imported.get(word) ?? (local.has(`${path}#${word}`) ? `${path}#${word}` : []));
    // Loaded when it is needed: by any name that the file has.
    const loaded = [...part.matchAll(/\bimport\("(\.[^"]+)"\)/g)].map(([, from = ""]) => besides(path, from));
    const late = loaded.flatMap((file) => words.map((word) => `${file}#${word}`));
    const called = INDIRECT.filter((one) => !path.startsWith("host/") && one.called.test(part));
    return [key, { uses: [...uses, ...late, ...called.map(({ found }) => found)], reasons: reasonsIn(part) }] as const;
  });
}

/** The names that a file imports as values, and where they are declared. */
function importedBy(path: string, text: string): ReadonlyMap<string, string> {
  const statements = [...text.matchAll(/^import \{([^}]*)\} from "(\.[^"]+)";/gm)];
  return new Map(
    statements.flatMap(([, names = "", from = ""]) => {
      const file = besides(path, from);
      const all = names.split(",").map((name) => name.trim().split(" as "));
      return all.map(([name = "", alias = name]) => [alias, `${file}#${name}`] as const);
    }),
  );
}

function besides(path: string, from: string): string {
  return posix.join(posix.dirname(path), from);
}

function reasonsBelow(files: Source, place: string): readonly string[] {
  return [...files].flatMap(([path, text]) => (path.startsWith(place) ? reasonsIn(text) : []));
}

/** Reasons that are named, and those of errors that name none. */
function reasonsIn(text: string): readonly string[] {
  const named = [...text.matchAll(/"([a-z_]+\.[a-z_]+)"/g)].map(([, name = ""]) => name);
  const unnamed = [...text.matchAll(/UamError\(\s*"(\w+)"(?:(?!\breason\b)[^;])*;/g)].map(
    ([, code]) => DEFAULT_REASONS[code as ErrorCode],
  );
  return [...named.filter((name) => Object.hasOwn(REASONS, name)), ...unnamed];
}

function reachedFrom(
  handler: string,
  declarations: ReadonlyMap<string, Declaration>,
  indirect: ReadonlyMap<string, readonly string[]>,
): ReadonlySet<string> {
  const seen = new Set([handler]);
  const reasons = new Set<string>();
  // A set can grow while it is walked.
  for (const name of seen) {
    const { uses, reasons: own } = declarations.get(name) ?? { uses: [], reasons: indirect.get(name) ?? [] };
    for (const reason of own) reasons.add(reason);
    for (const used of uses) seen.add(used);
  }
  return reasons;
}
