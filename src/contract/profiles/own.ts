/** What users see of the profile that counts for them on a host. */

import * as v from "valibot";
import { ATTESTATIONS, PROFILE_KINDS, SECOND_FACTORS } from "../../shared/product/statuses.ts";
import { described } from "../fields.ts";

export const ownProfile = v.optional(
  v.pipe(
    v.object({
      kind: v.picklist(PROFILE_KINDS),
      means: described("may open connections to db1.example.org:5432, nothing else", "What the account may do there"),
      commands: v.pipe(
        v.array(described("ssh -N -L 5432:db1.example.org:5432 ext_alice@uam.example.org")),
        v.description("The commands for it: one for each target where it is `forward`, else one"),
      ),
      second_factor: v.pipe(
        v.picklist(SECOND_FACTORS),
        v.description("`verified`: only security keys open the account there, with touch and PIN at each login"),
      ),
      attestation: v.pipe(
        v.picklist(ATTESTATIONS),
        v.description("`required`: only those whose make was proven when they were uploaded"),
      ),
    }),
    v.description("Only where a profile counts for the account there"),
  ),
);
