/** /profiles: what accounts may do on hosts. */

import type { profiles } from "../../../contract/profiles/profiles.ts";
import { awaitRecord } from "../../../domain/hosts/confirmation.ts";
import type { ProfileChanges } from "../../../domain/profiles/fields.ts";
import {
  createProfile,
  deleteProfile,
  getProfile,
  listProfiles,
  previewProfileDelete,
} from "../../../domain/profiles/profiles.ts";
import { previewProfile, updateProfile } from "../../../domain/profiles/update.ts";
import { profilePreviewRecord, profileRecord } from "../../profile-records.ts";
import { hostsRecord } from "../../records.ts";
import type { Handlers } from "../http/call.ts";
import { isPreview } from "../http/request.ts";

export const profileHandlers: Handlers<typeof profiles> = {
  "GET /profiles": async ({ context }) => ({ items: (await listProfiles(context)).map(profileRecord) }),

  "POST /profiles": async ({ context, body }) => {
    const { name, kind } = body;
    return profileRecord(await createProfile(context, { name, kind, ...changesOf(body) }));
  },

  "GET /profiles/:id": async ({ context, params }) => profileRecord(await getProfile(context, params.id)),

  "PATCH /profiles/:id": async ({ context, params, query, body }) => {
    const changes = changesOf(body);
    if (isPreview(query)) return profilePreviewRecord(await previewProfile(context, params.id, changes));
    const { profile, record } = await updateProfile(context, params.id, changes);
    const known = record === undefined ? {} : hostsRecord(await awaitRecord(context, record));
    return { ...profileRecord(profile), ...known };
  },

  "DELETE /profiles/:id": async ({ context, params, query }) => {
    if (isPreview(query)) return profilePreviewRecord(await previewProfileDelete(context, params.id));
    await deleteProfile(context, params.id);
    return { status: "deleted" };
  },
};

/** The fields of a request, as the operations name them. */
function changesOf(body: {
  readonly directory?: string | undefined;
  readonly read_only?: boolean | undefined;
  readonly umask?: string | null | undefined;
  readonly targets?: readonly string[] | undefined;
  readonly forwarding?: boolean | readonly string[] | undefined;
  readonly command?: string | undefined;
  readonly idle?: string | null | undefined;
  readonly max_sessions?: number | null | undefined;
  readonly second_factor?: "none" | "verified" | undefined;
  readonly attestation?: "none" | "required" | undefined;
  readonly groups?: readonly string[] | undefined;
  readonly sudo?: readonly string[] | undefined;
  readonly banner?: string | null | undefined;
}): ProfileChanges {
  const { directory, umask, targets, forwarding, command, idle, groups, sudo, banner, attestation } = body;
  const { read_only: readOnly, max_sessions: maxSessions, second_factor: secondFactor } = body;
  const named = { readOnly, maxSessions, secondFactor };
  return { directory, umask, targets, forwarding, command, idle, groups, sudo, banner, attestation, ...named };
}
