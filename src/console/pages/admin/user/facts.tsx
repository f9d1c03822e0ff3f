/** The known facts about a user. */

import { userTexts } from "../../../texts/admin/user.ts";
import { networkTexts } from "../../../texts/networks.ts";
import { NetworkList } from "../../../ui/networks.tsx";
import { Status } from "../../../ui/status.tsx";
import { Time } from "../../../ui/time.tsx";
import { Typed } from "../../../ui/typed.tsx";
import { useApi } from "../../../use-api.tsx";
import { CompanyFact, useCompanyRecord } from "../../companies/choice.tsx";
import { ProfileFact } from "../../profiles/choice.tsx";
import { useSetting } from "../setting.ts";
import { AccessFacts } from "./access.tsx";
import { endsOf } from "./ends.ts";
import type { UserRecord } from "./record.ts";

export function Facts({ user }: { readonly user: UserRecord }) {
  const { facts } = userTexts;
  const { reason, at, removedAt } = endsOf(user, useSetting("policy.recycle_period"));
  return (
    <dl class="facts wide">
      <dt>{facts.status}</dt>
      <dd>
        <Status value={user.status} />
      </dd>
      <AccessFacts user={user} />
      <dt>{facts.ends[reason]}</dt>
      <dd>
        <Time at={at} isEnd />
        <p class="quiet">{facts.why[reason]}</p>
      </dd>
      {reason === "disabled" ? (
        <>
          <dt>{facts.until}</dt>
          <dd>
            <Time at={user.expire_at} isEnd />
          </dd>
        </>
      ) : null}
      <dt>{facts.lastLogin}</dt>
      <dd>
        <LastLogin id={user.id} />
      </dd>
      <dt>{facts.removed}</dt>
      <dd>{removedAt === undefined ? facts.removedUnknown : <Time at={removedAt} isEnd />}</dd>
      <dt>{facts.account}</dt>
      <dd>{user.host_account}</dd>
      <ProfileFact name={user.profile} />
      <dt>{networkTexts.from}</dt>
      <dd>
        <NetworkList networks={user.source_networks} none={networkTexts.anywhere} />
      </dd>
      <dt>{facts.email}</dt>
      <dd>
        <bdi>{user.email}</bdi>
      </dd>
      <dt>{facts.fullName}</dt>
      <dd>
        <Text text={user.full_name} />
      </dd>
      <dt>{facts.supervisor}</dt>
      <dd>
        <Text text={user.supervisor} />
      </dd>
      <SponsorFact user={user} />
      <CompanyFact user={user} />
      <dt>{facts.purpose}</dt>
      <dd>
        <Text text={user.purpose} />
      </dd>
      {user.note === "" ? null : (
        <>
          <dt>{facts.note}</dt>
          <dd>
            <Typed text={user.note} />
          </dd>
        </>
      )}
      {user.terms === undefined ? null : <Terms terms={user.terms} />}
      <Made user={user} />
    </dl>
  );
}

/** When they were created, and last changed. */
function Made({ user }: { readonly user: UserRecord }) {
  const { facts } = userTexts;
  return (
    <>
      <dt>{facts.created}</dt>
      <dd>
        <Time at={user.created_at} both />
      </dd>
      <dt>{facts.updated}</dt>
      <dd>
        <Time at={user.updated_at} both />
      </dd>
    </>
  );
}

/** Who answers for them: their own sponsor, else their company's. */
function SponsorFact({ user: { sponsor_email: own, company_id: company } }: { readonly user: UserRecord }) {
  const { facts } = userTexts;
  const email = useCompanyRecord(own === "" ? company : null)?.sponsor_email ?? own;
  if (email === "") return null;
  return (
    <>
      <dt>{facts.sponsor}</dt>
      <dd>
        <bdi>{email}</bdi>
        {own === "" ? ` (${facts.ofCompany})` : null}
      </dd>
    </>
  );
}

/** Which terms of use they accepted, and when. */
function Terms({ terms }: { readonly terms: NonNullable<UserRecord["terms"]> }) {
  const { facts } = userTexts;
  return (
    <>
      <dt>{facts.terms}</dt>
      <dd>
        {terms.pending ? <span class="warned">{facts.termsPending}</span> : null}
        {terms.accepted_at === null ? null : (
          <p class="quiet">
            {facts.termsAccepted} <Time at={terms.accepted_at} both />
            <br />
            <code>{terms.accepted_version}</code>
          </p>
        )}
      </dd>
    </>
  );
}

function Text({ text }: { readonly text: string }) {
  return text === "" ? <span class="quiet">{userTexts.facts.nothing}</span> : <Typed text={text} />;
}

/** As sshd's log has it of the keys that are active now. */
function LastLogin({ id }: { readonly id: number }) {
  const { facts } = userTexts;
  const used = (useApi("GET /users/:id/keys", { params: { id } }).data?.items ?? []).flatMap(
    ({ last_used_at: at, last_used_from: from }) => (at === null ? [] : [{ at, from }]),
  );
  const [last] = used.sort((one, other) => other.at.localeCompare(one.at));
  if (last === undefined) return <span class="quiet">{facts.noLogin}</span>;
  return (
    <>
      <Time at={last.at} both /> {last.from === "" ? null : userTexts.keys.from(last.from)}
    </>
  );
}
