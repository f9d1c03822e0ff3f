/** Passkeys and authenticator apps, on the page about one's own login. */

import { inLanguage } from "../language.ts";

const en = {
  needed: {
    title: { "second-factor": "Set up a second factor first", passkey: "Add a passkey first" },
    text: {
      "second-factor":
        "This service asks every administrator for a passkey or an authenticator app. Until you have one, you can do nothing else here.",
      passkey:
        "This service lets administrators in with a passkey only. Until you have one, you can do nothing else here.",
    },
  },
  passkeys: {
    title: "Passkeys",
    lead: "A passkey logs you in with your fingerprint, face or PIN, on this device, a phone or a security key. Once you have one, your password alone no longer does.",
    caption: "Your passkeys, oldest first",
    columns: { name: "Name", added: "Added", used: "Last used", act: "Change" },
    never: "never",
    backedUp: "kept in a password manager or an account",
    empty: "You have no passkey yet.",
    add: "Add a passkey",
    unable: "This browser cannot use passkeys, at least not at this address.",
  },
  add: {
    title: "Add a passkey",
    name: "Name",
    nameHint: "To tell it by, such as “Laptop” or “Blue security key”.",
    nameError: "Type a name of 1 to 64 characters.",
    submit: "Add the passkey",
    busy: "Waiting for your device …",
    done: (name: string) =>
      `The passkey ${name} is added. It logs you in from now on, and your password alone no longer does.`,
  },
  rename: {
    open: "Rename",
    openOf: (name: string) => `Rename ${name}`,
    title: "Rename a passkey",
    submit: "Save the name",
    busy: "Saving …",
    done: (name: string) => `The passkey is called ${name} now.`,
  },
  remove: {
    open: "Remove",
    openOf: (name: string) => `Remove ${name}`,
    title: (name: string) => `Remove ${name}`,
    text: "It no longer logs you in, and you are told by e-mail. Sessions that are open stay open. Delete it on the device, too.",
    submit: "Remove it",
    busy: "Removing …",
    done: (name: string) => `The passkey ${name} is removed.`,
  },
  confirm: {
    password: "Present password",
    passwordHint: "So that nobody who finds this page open can do it for you.",
    missing: "Type your current password.",
    wrong: "This is not your current password. Wrong ones count as failed logins, and lock your login for a while.",
    withPasskey: "Confirm with a passkey instead",
    onlyPasskey: "Your device asks for your passkey next, so that nobody who finds this page open can do it for you.",
    onlyLogin:
      "You have no password and no passkey here, so this needs a login at the provider within the last 5 minutes.",
    logInAgain: "Log in there again",
  },
  app: {
    title: "Authenticator app",
    lead: "An app on your phone shows a code of six digits, which your login then asks for beside the password. For those whose devices have no passkeys.",
    none: "No app is set up.",
    since: "Set up:",
    used: "Last used:",
    open: "Set up an app",
    begin: { title: "Set up an authenticator app", submit: "Go on", busy: "Making a secret …" },
    scan: {
      title: "Scan this with your app",
      text: "It is shown only here, only once. If the app cannot scan, type the secret:",
      picture: "The secret for your app, as a picture to scan",
      label: "The secret for your app",
      code: "Code that the app shows",
      codeHint: "6 digits",
      missing: "Type the six digits that the app shows.",
      submit: "Set it up",
      busy: "Checking …",
    },
    done: "The app is set up. Your login asks for its code from now on.",
    removing: {
      open: "Remove the app",
      title: "Remove the authenticator app",
      text: "Its codes no longer log you in, and you are told by e-mail. Sessions that are open stay open.",
      submit: "Remove it",
      busy: "Removing …",
      done: "The authenticator app is removed.",
    },
  },
};

export const factorsTexts = inLanguage({ en });
