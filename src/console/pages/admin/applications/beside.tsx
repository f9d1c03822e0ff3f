/** The fields for what a new user gets beside what was applied for: the company, the sponsor, the start, the hours and the profile. */

import { useState } from "preact/hooks";
import type { BodyOf } from "../../../api.ts";
import { maySee } from "../../../roles.ts";
import { applicationTexts } from "../../../texts/admin/applications.ts";
import { Input } from "../../../ui/field.tsx";
import { Typed } from "../../../ui/typed.tsx";
import { useCompany } from "../../companies/choice.tsx";
import { useLaterHours } from "../../hours/later-hours.tsx";
import { useStart } from "../../hours/start.tsx";
import { useProfile } from "../../profiles/choice.tsx";
import { useRole } from "../for-role.tsx";
import type { Application } from "./application.ts";

/** The `fields`, and `read()`, undefined where one says nothing that can be sent. */
export function useBeside({ company_id: applied, sponsor_email: named, hours_wish: wish }: Application) {
  const { approve, card } = applicationTexts;
  const company = useCompany({ alone: true });
  const start = useStart();
  const startsAt = start.changes.starts_at ?? undefined;
  const hours = useLaterHours(approve.hours);
  const profile = useProfile();
  const [sponsor, setSponsor] = useState(named);
  // A manager applies for their own company; and who sees no users sees no companies.
  const maySeeCompanies = maySee(useRole(), "users") && applied === null;
  return {
    hasCompany: company.isChosen,
    startsAt,
    fields: (
      <>
        {maySeeCompanies ? company.fields : null}
        <Input
          label={approve.sponsor}
          hint={approve.sponsorHint}
          value={sponsor}
          onValue={setSponsor}
          type="email"
          name="sponsor"
          autocomplete="off"
        />
        {wish === "" ? null : (
          <p>
            {`${card.hoursWish}: `}
            <Typed text={wish} />
          </p>
        )}
        {start.field}
        {hours.fields}
        {profile.field}
      </>
    ),
    read: async (): Promise<Partial<BodyOf<"POST /approvals/:id/review">> | undefined> => {
      const isWhole = start.isWhole();
      const week = hours.read();
      const from = await company.read();
      if (week === undefined || from === undefined || !isWhole) return undefined;
      return {
        ...(from.company_id == null ? {} : { company_id: from.company_id }),
        ...(sponsor.trim() === named ? {} : { sponsor_email: sponsor.trim() }),
        ...(startsAt === undefined ? {} : { starts_at: startsAt }),
        ...(week === null ? {} : { hours: week }),
        ...profile.changes,
      };
    },
  };
}
