/** The hosts with agents: whether they are heard of, and what is wrong there. */

import { asc, eq } from "drizzle-orm";
import { type HostProblem, problemsOf } from "../domain/hosts/problems.ts";
import type { Services } from "../domain/operation/context.ts";
import { counted, namedUpTo } from "../shared/text/counted.ts";
import { VERSION } from "../shared/version.ts";
import { type HostRow, hosts } from "../store/schema-fleet.ts";
import { areaOf, type Finding } from "./finding.ts";

const area = areaOf("hosts");
/** Findings of one kind that are listed; of more, the number is told. */
const LISTED = 10;

/** The remedy for each kind; a note neither keeps anybody out nor lets anybody in wrongly. */
const REMEDIES: Readonly<Record<HostProblem["kind"], { readonly state: "fault" | "note"; readonly remedy: string }>> = {
  silent: { state: "fault", remedy: "look there: systemctl status uam-agent, uam agent status" },
  lease_ended: { state: "fault", remedy: "look there: systemctl status uam-agent, uam agent status" },
  diverged: { state: "fault", remedy: "look through users and keys, then uam fleet accept" },
  unknown: { state: "fault", remedy: "uam fleet accept says which, asks, and has them removed" },
  clock: { state: "fault", remedy: "correct the clock there, or here: accounts expire by it" },
  locked: { state: "note", remedy: "uam host unlock opens it again, uam host retire removes it" },
  no_lease: { state: "note", remedy: "uam host update --lease 4h: then it shuts if it is cut off" },
  conflict: { state: "fault", remedy: "give the account there another name or uid; it is not touched" },
  missing: { state: "fault", remedy: "somebody removed it there; the agent says what it does about that" },
  refused: { state: "fault", remedy: "correct there what is named; the agent tries again by itself" },
  drift: { state: "note", remedy: "it was repaired; find out who changes accounts there by hand" },
  finding: { state: "note", remedy: "run uam doctor there" },
  profile: { state: "fault", remedy: "correct there what is named; it is tried again by itself" },
};

/** Nothing if the service's own host is the only one. */
export async function checkHosts({ db, clock }: Pick<Services, "db" | "clock">): Promise<readonly Finding[]> {
  const rows = await db.select().from(hosts).where(eq(hosts.kind, "remote")).orderBy(asc(hosts.name));
  if (rows.length === 0) return [];
  const problems = await problemsOf(db, rows, { now: clock.now() });
  const byKind = Map.groupBy(problems, ({ kind }) => kind);
  const found = [...byKind].flatMap(([kind, all]) => {
    const { state, remedy } = REMEDIES[kind];
    const listed = all.slice(0, LISTED).map((problem) => area[state](sentenceOf(problem), remedy));
    const more = all.length - LISTED;
    return more > 0 ? [...listed, area[state](`And ${more} more of this kind (${kind})`, "uam host list")] : listed;
  });
  const old = rows.filter(isOlder);
  const outdated =
    old.length === 0
      ? []
      : [
          area.note(
            `${counted(old.length, "host")} with an agent older than this service (${VERSION}): ${someOf(old)}`,
            "install the same version there; an agent may be one version of the protocol behind",
          ),
        ];
  const all = [...found, ...outdated];
  return all.some(({ state }) => state === "fault")
    ? all
    : [area.ok(`${counted(rows.length, "host")} heard of`), ...all];
}

function sentenceOf({ host, account, text }: HostProblem): string {
  return account === "" ? `${host}: ${text}` : `${host}, ${account}: ${text}`;
}

/** A host's words are not trusted: anything but a version does not count as older. */
function isOlder({ version }: HostRow): boolean {
  const [theirs, ours] = [version, VERSION].map((text) =>
    /^(\d{1,6})\.(\d{1,6})\.(\d{1,6})/.exec(text)?.slice(1).map(Number),
  );
  if (theirs === undefined || ours === undefined) return false;
  const first = ours.findIndex((part, index) => part !== theirs[index]);
  return first !== -1 && (theirs[first] ?? 0) < (ours[first] ?? 0);
}

function someOf(rows: readonly HostRow[]): string {
  return namedUpTo(
    LISTED,
    rows.map(({ name }) => name),
  );
}
