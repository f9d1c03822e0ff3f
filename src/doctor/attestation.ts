/** Whether the keys of profiles that ask for proof of their make can be proven here. */

import type { Services } from "../domain/operation/context.ts";
import { listProfiles } from "../domain/profiles/profiles.ts";
import { ATTESTATION_ISSUERS } from "../host/profiles/attestation-issuers.ts";
import { areaOf, type Finding } from "./finding.ts";

const area = areaOf("attestation");

/** A fault if a profile asks for proof and no maker is believed: then nobody with it can add a key. Nothing where none asks. */
export async function checkAttestation({ db, attestationIssuers }: Services): Promise<readonly Finding[]> {
  const asking = (await listProfiles({ db })).filter(({ row }) => row.attestation === "required");
  const [first] = asking;
  if (first === undefined) return [];
  const count = attestationIssuers?.().length ?? 0;
  if (count > 0) return [area.ok(`Makers of security keys that are believed: ${count}`)];
  const whose = asking.length === 1 ? `The profile ${first.row.name} asks` : `${asking.length} profiles ask`;
  return [
    area.fault(
      `${whose} for proof of the make of keys, and ${ATTESTATION_ISSUERS} has no certificate: nobody can add such a key`,
      "put the makers' certificates there, as files named *.pem that only root can write",
    ),
  ];
}
