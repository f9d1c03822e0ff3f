/** How to connect: the command, the host's fingerprints, and texts for the files of ssh and for PuTTY. */

import { PAGES } from "../../../shared/pages.ts";
import { signedIn } from "../../signed-in.tsx";
import { userTexts } from "../../texts/user.ts";
import { Copyable } from "../../ui/copy.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Page, Section } from "../../ui/page.tsx";
import { Table } from "../../ui/table.tsx";
import { Loaded } from "../../use-api.tsx";
import { withKeyFile } from "./connect/command.ts";
import { FirstTime } from "./connect/first-time.tsx";
import { type OwnAccount, useOwnAccount, useOwnKeys } from "./own-account.ts";
import { Standing } from "./standing.tsx";

export const Connect = signedIn("user", () => {
  const own = useOwnAccount();
  const keys = useOwnKeys();
  const { connect } = userTexts;
  return (
    <Page title={connect.title}>
      <Loaded query={own}>
        {(account) => (
          <div class="stack">
            <Standing own={account} page="connect" />
            {account.status === "active" && keys.data?.items.length === 0 ? <NoKeys /> : null}
            <Command own={account} />
            <FirstTime own={account} />
            <KnownHosts own={account} />
            <Section title={connect.config.title}>
              <p>{connect.config.text(account.ssh.host)}</p>
              <Copyable text={account.ssh.config} label={connect.config.label} />
            </Section>
            <Putty own={account} />
            <Trouble />
          </div>
        )}
      </Loaded>
    </Page>
  );
});

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
