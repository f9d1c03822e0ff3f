/** How to connect: the command, the host's fingerprints, and texts for the files of ssh and for PuTTY. */

import { useLocation } from "preact-iso";
import { PAGES } from "../../../shared/product/pages.ts";
import { Contact } from "../../contact.tsx";
import { signedIn } from "../../signed-in.tsx";
import { userTexts } from "../../texts/user/user.ts";
import { Copyable } from "../../ui/copy.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Page, Section } from "../../ui/page.tsx";
import { Table } from "../../ui/table.tsx";
import { Loaded } from "../../use-api.tsx";
import { withKeyFile } from "./connect/command.ts";
import { FirstTime } from "./connect/first-time.tsx";
import { HostList, PART } from "./connect/host-list.tsx";
import {
  type OwnAccount,
  type OwnHost,
  type Ssh,
  shownName,
  useOwnAccount,
  useOwnHosts,
  useOwnKeys,
} from "./own-account.ts";
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
  const hosts = useOwnHosts();
  return (
    <div class="stack">
      <Standing own={own} page="connect" />
      {own.status === "active" && keys.data?.items.length === 0 ? <NoKeys /> : null}
      <Loaded query={hosts}>{({ items }) => <OnHosts own={own} hosts={items} />}</Loaded>
      {/* What is known without the list is of use as well. */}
      {hosts.data === undefined && hosts.error !== null ? <OnOwnHost own={own} /> : null}
    </div>
  );
}

/** How to connect to the host that the address names, or to the first one. */
function OnHosts({ own, hosts }: { readonly own: OwnAccount; readonly hosts: readonly OwnHost[] }) {
  const { query } = useLocation();
  const chosen = hosts.find(({ name }) => name === query.host) ?? hosts[0];
  if (chosen === undefined) return <OnOwnHost own={own} />;
  const isSeveral = hosts.length > 1;
  return (
    <div class="stack">
      {isSeveral ? <HostList hosts={hosts} chosen={chosen} /> : null}
      {chosen.ssh === null ? (
        <Notice kind="info">
          <p>{userTexts.connect.hosts.unknown(shownName(chosen))}</p>
        </Notice>
      ) : (
        <Ways own={own} ssh={chosen.ssh} host={isSeveral ? shownName(chosen) : undefined} />
      )}
    </div>
  );
}

function OnOwnHost({ own }: { readonly own: OwnAccount }) {
  return own.ssh === null ? <NoHost own={own} /> : <Ways own={own} ssh={own.ssh} />;
}

function NoHost({ own }: { readonly own: OwnAccount }) {
  const { noHost } = userTexts.connect;
  return (
    <Notice kind="info" title={noHost.title}>
      <p>
        {noHost.text(own.host_account)} <Contact contact={own.contact} />
      </p>
    </Notice>
  );
}

interface WaysProps {
  readonly own: OwnAccount;
  readonly ssh: Ssh;
  /** The host's name, where there are several. */
  readonly host?: string | undefined;
}

function Ways({ own, ssh, host }: WaysProps) {
  const { config, hosts } = userTexts.connect;
  // What works with a shell alone is of no use to others.
  const isShell = !/^(?:sftp|forward)$/.test(ssh.profile?.kind ?? "");
  return (
    <div class="stack">
      {host === undefined ? null : <h2 id={PART}>{hosts.part(host)}</h2>}
      <Command ssh={ssh} />
      <FirstTime own={own} ssh={ssh} />
      <KnownHosts ssh={ssh} />
      <Section title={config.title}>
        <p>{isShell ? config.text(ssh.host) : config.plain(ssh.host)}</p>
        <Copyable text={ssh.config} label={config.label} />
      </Section>
      {isShell ? <Putty own={own} ssh={ssh} /> : null}
      <Trouble />
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

function Command({ ssh }: { readonly ssh: Ssh }) {
  const { command } = userTexts.connect;
  const { kind, means, commands = [ssh.command] } = ssh.profile ?? {};
  return (
    <Section title={command.title}>
      {means === undefined ? null : <p>{command.may(means)}</p>}
      <p>{command.text}</p>
      {commands.map((each, index) => (
        <Copyable key={each} text={each} label={command.labelOf(index, commands.length)} />
      ))}
      {kind === "forward" ? <p>{command.forward}</p> : null}
      <p>{command.key}</p>
      <Copyable text={withKeyFile(ssh.command, command.keyFile)} label={command.keyLabel} />
    </Section>
  );
}

function KnownHosts({ ssh }: { readonly ssh: Ssh }) {
  const { known } = userTexts.connect;
  if (ssh.known_hosts.length === 0) return null;
  return (
    <Section title={known.title}>
      <p>{known.text}</p>
      <Copyable text={ssh.known_hosts.join("\n")} label={known.label} />
      <p class="hint">{known.where}</p>
    </Section>
  );
}

function Putty({ own, ssh }: WaysProps) {
  const { putty } = userTexts.connect;
  const fields: readonly (readonly [string, string])[] = [
    [putty.host, ssh.host],
    [putty.port, String(ssh.port)],
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
