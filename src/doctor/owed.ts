/** Access that is to be taken away, and is not yet gone completely. */

import { listClosings } from "../domain/accounts/closings.ts";
import { findUser } from "../domain/accounts/find-user.ts";
import type { Services } from "../domain/operation/context.ts";
import { counted } from "../shared/text/counted.ts";
import { formatTimestamp } from "../shared/time/timestamp.ts";
import { areaOf, type Finding } from "./finding.ts";

const REMEDY =
  "as root, correct on the host what is named; the service tries again within the hour, uam reconcile at once";

/** A fault for each closing that is owed: for whom, since when, how often it was tried, and what is left. */
export async function checkOwed({ db }: Pick<Services, "db">): Promise<readonly Finding[]> {
  const area = areaOf("closings");
  const owed = await listClosings(db);
  if (owed.length === 0) return [area.ok("No access is waiting to be taken away")];
  return await Promise.all(
    owed.map(async ({ userId, begunAt, attempts, problem }) => {
      const user = await findUser(db, userId);
      const who = user?.username ?? `the deleted user ${userId}`;
      const since = `The access of ${who} has been waiting to be taken away since ${formatTimestamp(begunAt)}`;
      const tried =
        attempts === 0 ? "it is under way, or was interrupted" : `tried ${counted(attempts, "time")}: ${problem}`;
      return area.fault(`${since} (${tried})`, REMEDY);
    }),
  );
}
