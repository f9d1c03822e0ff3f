/** Every screen of the console and the states it is looked at in; the tests that go over all screens share this table. */

import type { Page } from "playwright-core";
import { PAGES, type PageName } from "../../../src/shared/product/pages.ts";
import { ADMIN_PASSWORD } from "../../support/app.ts";
import type { Filled } from "./data.ts";

export interface Screen {
  readonly name: PageName;
  readonly who: "nobody" | "user" | "admin";
  /** The address, with what is in the data. */
  readonly path: (filled: Filled) => string;
  /** Whether what it shows comes from the service, so that it has to design waiting, failing and emptiness. */
  readonly isFed: boolean;
  /** Dialogs and further states, by name: how to get there from the screen as it opens. */
  readonly dialogs: Readonly<Record<string, (page: Page) => Promise<void>>>;
}

function screen(name: PageName, who: Screen["who"], rest: Partial<Omit<Screen, "name" | "who">> = {}): Screen {
  return { name, who, path: () => PAGES[name], isFed: who !== "nobody", dialogs: {}, ...rest };
}

type Step = (page: Page) => Promise<void>;

/** Presses the first button whose name begins like this. */
function press(name: RegExp): Step {
  return (page) => page.getByRole("button", { name }).first().click();
}

/** Opens a dialog, and waits until it shows what it was opened for. */
function dialog(name: RegExp, shows?: RegExp): Step {
  return async (page) => {
    await press(name)(page);
    await page.getByRole("dialog").waitFor();
    if (shows !== undefined) await page.getByRole("dialog").getByText(shows).first().waitFor();
  };
}

/** Sends a form as it is, so that it says what is missing. */
function unfilled(submit: RegExp): Step {
  return async (page) => {
    await press(submit)(page);
    await page.locator("[aria-invalid=true]").first().waitFor();
  };
}

/** One step after the other. */
function first(...steps: readonly Step[]): Step {
  return async (page) => {
    for (const step of steps) await step(page);
  };
}

function fill(label: RegExp, text: string): Step {
  return (page) => page.getByLabel(label).first().fill(text);
}

function choose(label: RegExp, value: string): Step {
  return async (page) => void (await page.getByRole("combobox", { name: label }).first().selectOption(value));
}

/** Waits until the open dialog says so. */
function showing(text: RegExp): Step {
  return (page) => page.getByRole("dialog").getByText(text).first().waitFor();
}

/** Waits until the page says so. */
function showingPage(text: RegExp): Step {
  return (page) => page.getByText(text).first().waitFor();
}

function unfold(summary: RegExp): Step {
  return (page) => page.locator("summary").filter({ hasText: summary }).first().click();
}

const selectAll: Step = (page) => page.getByRole("checkbox", { name: /^Select all/ }).click();

/** A file of users of whom one is there already and one has a fault. */
const FILE = "username,email,mood\nalice,alice@example.org,good\nbea,bea@example.org,\ncem,nowhere,\n";
/** A key that somebody pastes. */
const KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGPKSUTyz1HwHReFVvD5obVsALAgJRNarH4TRpNePnAS alice@laptop";
const PRIVATE_KEY = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\n-----END OPENSSH PRIVATE KEY-----";

export const SCREENS: readonly Screen[] = [
  screen("home", "nobody"),
  screen("apply", "nobody", { dialogs: { "nothing filled in": unfilled(/^Send the application/) } }),
  screen("login", "nobody", {
    dialogs: {
      "nothing filled in": unfilled(/^Send me a code/),
      "a picture instead": first(fill(/^Username/, "nobody-here"), press(/^Show a picture/)),
      "the code": press(/^I already have a code/),
      administrator: (page) => page.getByRole("link", { name: /^Administrator/ }).click(),
    },
  }),
  screen("forgot", "nobody", { dialogs: { "nothing filled in": unfilled(/^Send me a link/) } }),
  screen("reset", "nobody", {
    path: () => `${PAGES.reset}#${"a".repeat(43)}`,
    dialogs: { "nothing filled in": unfilled(/^Set the password/) },
  }),
  screen("decide", "nobody", { path: () => `${PAGES.decide}#${"a".repeat(43)}` }),
  screen("me", "user", { dialogs: { "more time": unfold(/^Ask for more time/) } }),
  screen("keys", "user", {
    dialogs: {
      rename: dialog(/^Rename/),
      revoke: dialog(/^Revoke/),
      "a key that was read": fill(/^Public key/, KEY),
      "a key that is none": fill(/^Public key/, "ssh-dss AAAA"),
      "a private key": fill(/^Public key/, PRIVATE_KEY),
    },
  }),
  screen("connect", "user"),
  screen("trail", "user", { dialogs: { find: dialog(/^Find/, /Add a key/), keys: dialog(/^Keys/) } }),
  screen("ownCompany", "user", {
    dialogs: {
      end: dialog(/^End … /, /Only an administrator/),
      "more time": first(dialog(/^More time … /), unfilled(/^Send the request/)),
      apply: first(dialog(/^Apply for a colleague/), unfilled(/^Send the application/)),
    },
  }),
  screen("notMe", "user", { dialogs: { "shut the account": dialog(/^Shut my account/) } }),
  screen("dashboard", "admin", {
    dialogs: {
      "the charts' figures": (page) => page.locator("figure summary").first().click(),
      approve: dialog(/^Approve …/, /What will happen/),
      extend: dialog(/^Extend …/, /What will happen/),
      "let go": dialog(/^Let go …/, /What will happen/),
      "let go now": first(
        dialog(/^Let go …/),
        choose(/^When access ends/, "now"),
        showing(/^Disable now/),
        showing(/What will happen/),
      ),
      find: dialog(/^Find/, /Create a user/),
      "somebody found": first(dialog(/^Find/), fill(/^People/, "a"), showing(/@exam/)),
      "nobody found": first(dialog(/^Find/), fill(/^People/, "xyzzy"), showing(/Nothing is called so/)),
      keys: dialog(/^Keys/),
    },
  }),
  screen("applications", "admin", { dialogs: { approve: dialog(/^Approve …/), reject: dialog(/^Reject …/) } }),
  screen("users", "admin", {
    dialogs: {
      create: dialog(/^Create a user/),
      "all that match": first(press(/^Select all \d+ that match/), async (page) => {
        await page.getByText(/^\d+ selected on 2 pages/).waitFor();
      }),
      "extend many": first(selectAll, dialog(/^Extend \d+ users/), press(/^Show what will happen/)),
      "disable many": first(selectAll, dialog(/^Disable \d+ users/, /can no longer log in|Nothing/)),
    },
  }),
  screen("userImport", "admin", {
    isFed: false,
    dialogs: {
      "nothing given": unfilled(/^Check it/),
      "faults by line": first(fill(/^Or paste the lines/, FILE), press(/^Check it/), showingPage(/^What is wrong/)),
      confirm: first(
        fill(/^Or paste the lines/, FILE),
        press(/^Check it/),
        dialog(/^Create the good/, /What will happen/),
      ),
    },
  }),
  screen("user", "admin", {
    path: ({ userId }) => PAGES.user.replace(":id", String(userId)),
    dialogs: {
      extend: dialog(/^Extend …/, /What will happen/),
      edit: dialog(/^Edit …/),
      profile: first(dialog(/^Profile …/), choose(/^Profile/, "drop-box"), showing(/What will happen/)),
      hours: first(dialog(/^Hours …/), unfold(/^Paint the week/)),
      hosts: first(dialog(/^Change hosts …/), fill(/^Hosts by name/, "web2"), showing(/What will happen/)),
      disable: dialog(/^Disable …/, /What will happen/),
      delete: dialog(/^Delete …/, /What will happen/),
      "revoke a key": dialog(/^Revoke …/),
      "sign out": dialog(/^Sign out …/),
    },
  }),
  screen("companies", "admin", {
    dialogs: { add: first(dialog(/^Add a company/), unfilled(/^Add the company/)) },
  }),
  screen("company", "admin", {
    path: ({ companyId }) => PAGES.company.replace(":id", String(companyId)),
    dialogs: {
      "fewer networks": first(
        dialog(/^Change … Networks/),
        fill(/^Networks/, "198.51.100.0/24"),
        showing(/What will happen/),
      ),
      "a number that is none": first(dialog(/^Change … Most users/), fill(/^Most users/, "?"), showing(/^Complete or/)),
      end: dialog(/^End …/, /What will happen/),
      delete: first(dialog(/^Delete …/), press(/^Delete the company/), showing(/users? comes? from/)),
    },
  }),
  screen("audit", "admin", { dialogs: { filter: unfold(/^Filter/) } }),
  screen("access", "admin", {
    dialogs: {
      keys: unfold(/^\d+ keys?/),
      "a moment to come": first(fill(/^At/, "2099-01-01T00:00"), unfilled(/^Show/)),
    },
  }),
  screen("settings", "admin", {
    dialogs: {
      change: first(dialog(/^Change: How long an expired/), fill(/^New value/, "20d"), press(/^See what would happen/)),
      reset: dialog(/^Back to the default/),
    },
  }),
  screen("admins", "admin", {
    dialogs: {
      invite: dialog(/^Invite an administrator/),
      change: dialog(/^Change/),
      "end sessions": dialog(/^End sessions/),
      remove: dialog(/^Remove/),
      "let in again": dialog(/^Let in again: former/, /by single sign-on/),
    },
  }),
  screen("webhooks", "admin", {
    dialogs: {
      make: first(dialog(/^Make a webhook/), unfilled(/^Make the webhook/)),
      "only some": first(dialog(/^Make a webhook/), async (page) => {
        await page.getByLabel(/^Told of/).selectOption("some");
      }),
      "a webhook that was made": first(
        dialog(/^Make a webhook/),
        fill(/^Address/, "https://made.example.org/"),
        fill(/^Present password/, ADMIN_PASSWORD),
        press(/^Make the webhook/),
        async (page) => await page.getByRole("button", { name: /^I have stored it/ }).waitFor(),
      ),
      change: dialog(/^Change/),
      deliveries: dialog(/^Deliveries/, /attempt 2/),
      ping: first(press(/^Ping the webhook/), async (page) => await page.getByText(/took no ping/).waitFor()),
      delete: dialog(/^Delete/, /Nothing more is sent/),
    },
  }),
  screen("tokens", "admin", {
    dialogs: {
      make: first(dialog(/^Make a token/), unfilled(/^Make the token/)),
      "a token that was made": first(
        dialog(/^Make a token/),
        fill(/^Name/, "export"),
        fill(/^Present password/, ADMIN_PASSWORD),
        press(/^Make the token/),
        async (page) => await page.getByRole("button", { name: /^I have stored it/ }).waitFor(),
      ),
      revoke: dialog(/^Revoke nightly/, /refused from the next request on/),
    },
  }),
  screen("account", "admin", {
    dialogs: { "add a passkey": dialog(/^Add a passkey/), "set up an app": dialog(/^Set up an app/) },
  }),
  screen("hosts", "admin", {
    dialogs: {
      add: first(dialog(/^Add a host/), unfilled(/^Make the line/)),
      "a line that was made": first(
        dialog(/^Add a host/),
        fill(/^Name/, "web9"),
        fill(/^Present password/, ADMIN_PASSWORD),
        press(/^Make the line/),
        async (page) => await page.getByRole("button", { name: /^Hide the line/ }).waitFor(),
      ),
    },
  }),
  screen("host", "admin", {
    path: ({ hostId }) => PAGES.host.replace(":id", String(hostId)),
    dialogs: {
      change: first(dialog(/^Change …/), choose(/^Lease/, "none"), showing(/stay open for ever/)),
      "no lease": first(dialog(/^Change …/), choose(/^Lease/, "own"), fill(/^Length/, "1s"), unfilled(/^Save/)),
      lock: dialog(/^Lock …/, /What will happen/),
      retire: dialog(/^Retire …/, /What will happen/),
    },
  }),
  screen("reviews", "admin", {
    dialogs: {
      begin: dialog(/^Begin a review/, /The review is about/),
      "of a sponsor": first(
        dialog(/^Begin a review/),
        choose(/^Whose access/, "sponsor"),
        fill(/^Days/, "?"),
        showing(/Type a/),
      ),
    },
  }),
  screen("review", "admin", {
    path: ({ reviewId }) => PAGES.review.replace(":id", String(reviewId)),
    dialogs: {
      everybody: first(choose(/^Show/, "all"), async (page) => await page.getByText(/Keeps the access/).waitFor()),
      keep: dialog(/^Keep …/, /What will happen/),
      end: dialog(/^End …/, /What will happen/),
      shorten: dialog(/^Shorten …/),
      several: first(selectAll, dialog(/^End … \d+ selected/, /What will happen/)),
      close: dialog(/^Close …/, /What will happen/),
    },
  }),
  screen("sponsors", "admin", {
    dialogs: { move: first(dialog(/^Move …/), fill(/^E-mail of/, "eva@example.com"), showing(/What will happen/)) },
  }),
  screen("profiles", "admin", {
    dialogs: {
      make: first(dialog(/^Make a profile/), choose(/^Kind/, "shell"), press(/^Make the profile/), (page) =>
        page.getByRole("dialog").getByRole("alert").waitFor(),
      ),
      change: first(dialog(/^Change …/), fill(/^Most silence/, "2m"), showing(/What will happen/)),
      "in use": first(dialog(/^Delete …/), (page) => page.getByRole("dialog").getByRole("alert").waitFor()),
      "not in use": first(
        async (page) => {
          await page
            .getByRole("button", { name: /^Delete …/ })
            .last()
            .click();
        },
        showing(/What will happen/),
      ),
    },
  }),
  screen("hostGroups", "admin", { dialogs: { make: first(dialog(/^Make a group/), unfilled(/^Make the group/)) } }),
  screen("hostGroup", "admin", {
    path: ({ groupId }) => PAGES.hostGroup.replace(":id", String(groupId)),
    dialogs: {
      add: first(dialog(/^Add hosts/), fill(/^Hosts/, "web1"), showing(/What will happen/)),
      "a host that there is not": first(dialog(/^Add hosts/), fill(/^Hosts/, "nowhere"), showing(/no host/)),
      change: first(dialog(/^Change …/), fill(/^Lease of/, "?"), showing(/Type a length/)),
      "take out": dialog(/^Take out …/),
      delete: dialog(/^Delete …/),
    },
  }),
];
