/** The known facts about a host. */

import { oneHostTexts } from "../../texts/hosts/host.ts";
import { hostTexts } from "../../texts/hosts/hosts.ts";
import { moment } from "../../ui/clock.ts";
import { Time } from "../../ui/time.tsx";
import { HostStatus } from "./host-state.tsx";
import type { HostDetail } from "./state.ts";
import { addressOfHosts } from "./view.ts";

const { facts: texts } = oneHostTexts;

export function HostFacts({ host }: { readonly host: HostDetail }) {
  const { groups, accounts, host_keys: keys, ssh_host: address, ssh_port: port } = host;
  return (
    <dl class="facts wide">
      <dt>{oneHostTexts.facts.state}</dt>
      <dd>
        <HostStatus host={host} />
      </dd>
      <dt>{texts.accounts}</dt>
      <dd>{texts.accountsText(accounts.total, accounts.open)}</dd>
      <dt>{texts.groups}</dt>
      <dd>
        {groups.length === 0 ? <span class="quiet">{hostTexts.noGroup}</span> : null}
        {groups.map((group, index) => (
          <span key={group}>
            {index === 0 ? "" : ", "}
            <a href={addressOfHosts({ group })}>{group}</a>
          </span>
        ))}
      </dd>
      <Lease host={host} />
      {host.kind === "local" ? null : (
        <>
          <dt>{texts.seen}</dt>
          <dd>{host.last_seen_at === null ? hostTexts.never : <Time at={host.last_seen_at} both />}</dd>
          <dt>{texts.version}</dt>
          <dd>
            <bdi class="typed">{host.version}</bdi>, {hostTexts.clock(host.clock_offset_ms)}
          </dd>
          <dt>{texts.mode}</dt>
          <dd>
            <bdi class="typed">{oneHostTexts.modes[host.mode] ?? host.mode}</bdi>
          </dd>
          <dt>{texts.enrolled}</dt>
          <dd>
            <Time at={host.enrolled_at} both />
          </dd>
        </>
      )}
      <dt>{texts.address}</dt>
      <dd>
        {address === "" ? (
          <span class="quiet">{texts.unknown}</span>
        ) : (
          <bdi class="typed">{port === 22 ? address : `${address}, port ${port}`}</bdi>
        )}
      </dd>
      {host.kind === "local" ? null : (
        <>
          <dt>{texts.keys}</dt>
          <dd>
            {keys.length === 0 ? <span class="quiet">{texts.noKeys}</span> : null}
            {keys.map((key) => (
              <div key={key}>
                <code>{key}</code>
              </div>
            ))}
          </dd>
        </>
      )}
    </dl>
  );
}

function Lease({ host }: { readonly host: HostDetail }) {
  if (host.kind === "local") {
    return (
      <>
        <dt>{texts.lease}</dt>
        <dd class="quiet">{texts.local}</dd>
      </>
    );
  }
  return (
    <>
      <dt>{texts.lease}</dt>
      <dd>
        {host.lease === "none" ? <strong class="bad-text">{texts.none}</strong> : <bdi>{host.lease}</bdi>} (
        {host.own_lease === null ? texts.inherited : texts.own})<p class="quiet">{texts.ends[host.lease_ends]}</p>
      </dd>
      {host.lease_until === null ? null : (
        <>
          <dt>{texts.until}</dt>
          <dd>{texts.untilText(moment(host.lease_until))}</dd>
        </>
      )}
    </>
  );
}
