/** How to connect: the command, the host's fingerprints, and texts for the files of ssh and for PuTTY. */

import { useLocation } from "preact-iso";
import { PAGES } from "../../../shared/pages.ts";
import { signedIn } from "../../signed-in.tsx";
import { userTexts } from "../../texts/user.ts";
import { Copyable } from "../../ui/copy.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Page, Section } from "../../ui/page.tsx";
import { Table } from "../../ui/table.tsx";
import { Loaded, useApi } from "../../use-api.tsx";
import { withKeyFile } from "./connect/command.ts";
import { FirstTime } from "./connect/first-time.tsx";
import { HostList, type OwnHost, PART } from "./connect/host-list.tsx";
import { type OwnAccount, useOwnAccount, useOwnKeys } from "./own-account.ts";
import { Standing } from "./standing.tsx";

export const Connect = signedIn("user", () => {
  const own = useOwnAccount();
  return (
    <Page title={userTexts.connect.title}>
      <Loaded query={own}>{(account) => <Content own={account} />}</Loaded>
    </Page>
  );
});

function Content({ own }: { readonly own: OwnAccount }) {
  const keys = useOwnKeys();
  const hosts = useApi("GET /me/hosts");
  return (
    <div class="stack">
      <Standing own={own} page="connect" />
      {own.status === "active" && keys.data?.items.length === 0 ? <NoKeys /> : null}
      <Loaded query={hosts}>{({ items }) => <OnHosts own={own} hosts={items} />}</Loaded>
      {/* What is known without the list is of use as well. */}
      {hosts.data === undefined && hosts.error !== null ? <HowTo own={own} /> : null}
      <Trouble />
    </div>
  );
}

/** How to connect to the host that the address names, or to the first one. */
function OnHosts({ own, hosts }: { readonly own: OwnAccount; readonly hosts: readonly OwnHost[] }) {
  const { query } = useLocation();
  const chosen = hosts.find(({ name }) => name === query.host) ?? hosts[0];
  if (chosen === undefined) return <HowTo own={own} />;
  const isSeveral = hosts.length > 1;
  return (
    <div class="stack">
      {isSeveral ? <HostList hosts={hosts} chosen={chosen} /> : null}
      {chosen.ssh === null ? (
        <Notice kind="info">
          <p>{userTexts.connect.hosts.unknown(chosen.name)}</p>
        </Notice>
      ) : (
        <HowTo own={{ ...own, ssh: chosen.ssh }} host={isSeveral ? chosen.name : undefined} />
      )}
    </div>
  );
}

interface HowToProps {
  /** With the host that it is about. */
  readonly own: OwnAccount;
  /** Its name, where there are several. */
  readonly host?: string | undefined;
}

function HowTo({ own, host }: HowToProps) {
  const { connect } = userTexts;
  return (
    <div class="stack">
      {host === undefined ? null : <h2 id={PART}>{connect.hosts.part(host)}</h2>}
      <Command own={own} />
      <FirstTime own={own} />
      <KnownHosts own={own} />
      <Section title={connect.config.title}>
        <p>{connect.config.text(own.ssh.host)}</p>
        <Copyable text={own.ssh.config} label={connect.config.label} />
      </Section>
      <Putty own={own} />
    </div>
  );
}

function NoKeys() {
  const { noKeys } = userTexts.connect;
  return (
    <Notice kind="info" title={noKeys.title}>
      <p>{noKeys.text}</p>
      <a class="button primary" href={PAGES.keys}>
        {noKeys.link}
      </a>
    </Notice>
  );
}

function Command({ own }: { readonly own: OwnAccount }) {
  const { command } = userTexts.connect;
  return (
    <Section title={command.title}>
      <p>{command.text}</p>
      <Copyable text={own.ssh.command} label={command.label} />
      <p>{command.key}</p>
      <Copyable text={withKeyFile(own.ssh.command, command.keyFile)} label={command.keyLabel} />
    </Section>
  );
}

function KnownHosts({ own }: { readonly own: OwnAccount }) {
  const { known } = userTexts.connect;
  if (own.ssh.known_hosts.length === 0) return null;
  return (
    <Section title={known.title}>
      <p>{known.text}</p>
      <Copyable text={own.ssh.known_hosts.join("\n")} label={known.label} />
      <p class="hint">{known.where}</p>
    </Section>
  );
}

function Putty({ own }: { readonly own: OwnAccount }) {
  const { putty } = userTexts.connect;
  const fields: readonly (readonly [string, string])[] = [
    [putty.host, own.ssh.host],
    [putty.port, String(own.ssh.port)],
    [putty.kind, "SSH"],
    [putty.user, own.host_account],
    [putty.file, putty.fileValue],
  ];
  return (
    <Section title={putty.title}>
      <p>{putty.text}</p>
      <div class="table">
        <Table
          caption={putty.caption}
          items={fields.map(([place, value]) => ({ id: place, value }))}
          columns={[
            { name: putty.place, cell: ({ id }) => id, isHeader: true },
            { name: putty.value, cell: ({ value }) => <code>{value}</code> },
          ]}
        />
      </div>
      <p class="hint">{putty.key}</p>
    </Section>
  );
}

function Trouble() {
  const { trouble } = userTexts.connect;
  return (
    <Section title={trouble.title}>
      <dl class="answers">
        {trouble.list.map(([symptom, advice]) => (
          <div key={symptom}>
            <dt>{symptom}</dt>
            <dd>{advice}</dd>
          </div>
        ))}
      </dl>
    </Section>
  );
}
