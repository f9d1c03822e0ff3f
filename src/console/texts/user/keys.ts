/** Texts of the page about one's keys. */

import { count } from "../language.ts";
import { faultText, PRIVATE_ADVICE } from "./key-faults.ts";

export const keyTexts = {
  title: "Your keys",
  lead: "Each of these keys opens your account on the host. Revoke what you no longer use.",
  idle: "At present none of these keys opens your account.",
  caption: "Keys that open your account",
  none: "No key opens your account yet.",
  name: "Name",
  key: "Key",
  type: "Type",
  typeOf: (type: string, bits: number) => `${type}, ${bits} bits`,
  fingerprint: "Fingerprint",
  created: "Added",
  used: "Last used",
  never: "not known",
  from: (address: string) => `from ${address}`,
  change: "Change",
  factor: {
    title: "Only security keys count",
    text: (hosts: string) =>
      `What opens your account${hosts === "" ? "" : ` on ${hosts}`} is a hardware key with touch and PIN at each login: its type begins with sk-. Other keys open nothing there.`,
    proof: (hosts: string) => `${hosts === "" ? "Its" : `For ${hosts} its`} make has to be proven when it is added.`,
  },
  /** Where a profile asks for it. */
  proof: {
    title: "Prove who made the security key",
    lead: "Your account takes only a security key that proves its make, which it does once, when the key is made.",
    ask: "Get a challenge",
    asking: "Getting it …",
    save: "Save the file uam-challenge",
    until: (when: string) => `It counts until ${when}, for one key.`,
    make: "Open a terminal where the file is, plug in the security key, and make the key with this command. Then choose its .pub file below.",
    command: "Command that makes a key with proof",
    give: "Choose the file uam-attestation that the command wrote. After this page was left, choose uam-challenge with it.",
    choose: "Choose uam-attestation",
    chosen: (names: string) => `Read: ${names}`,
    lacking: "These are not the files: uam-attestation is needed, and uam-challenge unless it was made on this page.",
    model: (subject: string) => `Make proven: ${subject}`,
  },
  rename: {
    button: "Rename",
    label: (name: string) => `Rename ${name}`,
    title: "Rename a key",
    field: "New name",
    hint: "1 to 64 characters. Only you and the administrators see it.",
    submit: "Save the name",
    busy: "Saving …",
    done: (name: string) => `The key is now called ${name}.`,
  },
  revoke: {
    button: "Revoke",
    label: (name: string) => `Revoke ${name}`,
    title: "Revoke this key?",
    effects: [
      "It stops working at once.",
      "SSH sessions that it opened end.",
      "This cannot be undone, but the key can be added again.",
      "You get a mail about it.",
    ],
    last: "Nothing else opens your account: you cannot connect until you add another key.",
    yes: (name: string) => `Revoke ${name}`,
    busy: "Revoking …",
    done: (name: string) => `The key ${name} is revoked. What it had opened has ended.`,
  },
  add: {
    title: "Add a key",
    firstTitle: "Add your first key",
    lead: "Only the public half: the one line in the file that ends in .pub. This page reads it before anything is sent.",
    text: "Public key",
    textHint: "Paste it, drop the file here, or choose the file.",
    choose: "Choose the .pub file",
    drop: "Drop the file to read it here",
    tooLarge: "This file is too large to be a public key. Nothing was read from it.",
    unreadable: "This file could not be read.",
    read: "This is what will be added",
    converted: "It was in the format of RFC 4716 and was converted.",
    comment: "Comment",
    noComment: "none",
    name: "Name for this key",
    nameHint: "For your own list, for example the machine that holds the private half. 1 to 64 characters.",
    duplicate: (name: string) => `You have added this key already. It is called ${name}.`,
    effectsTitle: "What will happen",
    effects: ({
      account,
      at,
      isSeveral,
    }: {
      account: string;
      at: { host: string; port: number } | null;
      isSeveral: boolean;
    }) => {
      const one = at === null ? "" : ` on ${at.host}${at.port === 22 ? "" : `, port ${at.port}`}`;
      const where = isSeveral ? " on each of your hosts" : one;
      return `Whoever holds the private half of this key can log in as ${account}${where}.`;
    },
    until: (when: string) => `It works at once, until ${when}, unless you revoke it before.`,
    sent: "Only the name above, the type and the key itself are sent.",
    sentProof: "The name above, the type, the key itself and the two files are sent, and nothing else.",
    mailed: "You get a mail about it.",
    submit: "Add this key",
    busy: "Adding the key …",
    doneTitle: (name: string) => `The key ${name} was added`,
    done: "It works now. The service read the same fingerprint as this page:",
    differs:
      "The service read another fingerprint than this page. Do not use the key: revoke it, and tell the administrators.",
    page: "This page",
    service: "The service",
    connect: "Connect with this command:",
    connectLabel: "Command that connects to the host",
    elsewhere: "If ssh does not find the key, add -i and the path of the private file.",
    firstTime: "What to answer when ssh asks about the host for the first time",
    another: "Add another key",
    announced: (type: string, bits: number) => `Public key read: ${type}, ${count(bits, "bit", "bits")}.`,
  },
  privateKey: {
    title: "That is a private key",
    text: "It was removed from this page, and nothing of it was sent. It must never leave your machine; if it was pasted or mailed elsewhere before, make a new one.",
    advice: PRIVATE_ADVICE,
  },
  faults: { text: faultText },
  make: {
    title: "How to make a key",
    lead: "Keys are made on your own machine, never here. It takes a minute.",
    yours: "(this looks like your system)",
    step: {
      make: "Make a key pair. Press Enter to accept the file it proposes, and choose a passphrase.",
      factor: "Plug in your security key, make a key pair, touch the key when it blinks, and type its PIN.",
      exists: "If it says that the file exists, answer n: you have a key already, and can use that one.",
      show: "Show the public half, and copy the line into the field above:",
      clip: "Copy the public half, and paste it into the field above:",
    },
    makeLabel: (system: string) => `Command that makes a key (${system})`,
    showLabel: (system: string) => `Command that shows the public half (${system})`,
    unix: "Linux, macOS and other Unix",
    windows: "Windows (PowerShell)",
    windowsNote: "Windows 10 and later bring ssh-keygen along.",
    putty: "Windows with PuTTY (PuTTYgen)",
    puttySteps: [
      "Start PuTTYgen, choose EdDSA (Ed25519), and press Generate.",
      "Move the mouse until it is done, and enter a key passphrase twice.",
      "Press “Save private key” and keep the .ppk file on your machine.",
      "Copy the text of the field “Public key for pasting into OpenSSH authorized_keys file” into the field above.",
    ],
  },
};
