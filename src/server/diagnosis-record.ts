/** Whether a user can log in, as the API and the command line show it. */

import type { Diagnosis } from "../domain/users/diagnosis.ts";
import { formatTimestamp } from "../shared/time/timestamp.ts";

export function diagnosisRecord({ can, because, refused, log }: Diagnosis) {
  return {
    can,
    because: because.map((cause) => ({ ...cause })),
    refused: refused.map(({ at, from, why }) => ({ at: formatTimestamp(at), from, why })),
    log: { ...log },
  };
}
