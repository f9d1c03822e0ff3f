import { describe, expect, test } from "bun:test";
import { waysOfSshd } from "../../../src/host/adoption/ways-in.ts";
import { parseSshdSettings } from "../../../src/host/sshd/sshd-settings.ts";

describe("waysOfSshd()", () => {
  const ways = (lines: readonly string[], hasPassword = true) =>
    waysOfSshd(parseSshdSettings(lines.join("\n")), hasPassword);

  test("names each method besides key files", () => {
    expect(
      ways([
        "passwordauthentication yes",
        "authorizedkeyscommand /usr/bin/sss_ssh_authorizedkeys",
        "trustedusercakeys /etc/ssh/ca.pub",
        "authorizedprincipalsfile /etc/ssh/principals/%u",
        "hostbasedauthentication yes",
        "gssapiauthentication yes",
      ]),
    ).toEqual([
      "sshd accepts its password",
      "sshd asks /usr/bin/sss_ssh_authorizedkeys for keys",
      "sshd accepts certificates by /etc/ssh/ca.pub, for /etc/ssh/principals/%u",
      "sshd believes other hosts (HostbasedAuthentication)",
      "sshd accepts Kerberos tickets (GSSAPIAuthentication)",
    ]);
  });

  test("says nothing of a password that the account does not have, nor of what is off", () => {
    expect(ways(["passwordauthentication yes"], false)).toEqual([]);
    expect(ways(["passwordauthentication no", "authorizedkeyscommand none", "trustedusercakeys none"])).toEqual([]);
  });
});
