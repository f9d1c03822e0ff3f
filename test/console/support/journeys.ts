/** What people do in the console, step by step, whichever way they work it. Each step ends when the page says that it was done. */

import type { Locator, Page } from "playwright-core";
import type { Hands } from "./hands.ts";

export interface Applicant {
  readonly username: string;
  readonly email: string;
  readonly supervisor: string;
  readonly purpose: string;
}

/** Waits until the page's heading says so. */
export async function arrive(page: Page, title: string | RegExp): Promise<void> {
  await shown(page, page.getByRole("heading", { level: 1, name: title }));
}

/** Waits until the page, or a dialog on it, says so. */
export async function says(page: Page, text: string | RegExp): Promise<void> {
  await shown(page, page.getByText(text).filter({ visible: true }).first());
}

/** Throws with what the page shows instead. */
async function shown(page: Page, wanted: Locator): Promise<void> {
  try {
    await wanted.waitFor();
  } catch (cause) {
    const instead = await page.locator("dialog[open], main").last().ariaSnapshot();
    throw new Error(`${page.url()} does not show ${wanted}, but:\n${instead}`, { cause });
  }
}

/** Follows a link of the header. */
export async function go({ page, press }: Hands, link: string, title: string | RegExp = link): Promise<void> {
  await press("link", link);
  await arrive(page, title);
}

export async function apply({ page, press, type }: Hands, applicant: Applicant): Promise<void> {
  await page.goto("/apply");
  await type("Username you would like", applicant.username);
  await type("E-mail address", applicant.email);
  await type("Supervisor", applicant.supervisor);
  await type("Purpose", applicant.purpose);
  await press("button", "Send the application");
  await says(page, "Your application has arrived");
}

export async function logInAsAdmin({ page, press, type }: Hands, username: string, password: string): Promise<void> {
  await page.goto("/login");
  await press("link", /^Administrator/);
  await type("Username", username);
  await type("Password", password);
  await press("button", "Log in");
  await arrive(page, "Dashboard");
}

export async function approve(hands: Hands, username: string, days: number): Promise<void> {
  const { page, press, type } = hands;
  await go(hands, "Applications");
  await press("button", `Approve … ${username}`);
  await type("Days of access", String(days));
  await press("button", "Approve");
  await says(page, `${username}: approved, and the account is created.`);
}

/** Has a code mailed; the browser does the work that takes the captcha's place. */
export async function askForCode({ page, press, type }: Hands, username: string): Promise<void> {
  await page.goto("/login");
  await press("link", /^External user/);
  await type("Username", username);
  await press("button", "Send me a code");
  await says(page, /^A code is on its way/);
}

/** Logs in with what a mailed link has filled in. */
export async function logInByLink({ page, press }: Hands, link: string): Promise<void> {
  await page.goto(link);
  await press("button", "Log in");
  await arrive(page, "Your access");
}

/** Adds the key in a file; returns the command that the page gives then. */
export async function addKey(hands: Hands, path: string, name: string): Promise<string> {
  const { page, press, type, chooseFile } = hands;
  await go(hands, "Keys", "Your keys");
  await chooseFile("Choose the .pub file", path);
  await says(page, "This is what will be added");
  await type("Name for this key", name);
  await press("button", "Add this key");
  await says(page, /^The key .* was added$/);
  return (
    (await page.getByRole("region", { name: "Command that connects to the host" }).locator("code").textContent()) ?? ""
  );
}

export async function revokeKey(hands: Hands, name: string): Promise<void> {
  const { page, press } = hands;
  await go(hands, "Keys", "Your keys");
  await press("button", new RegExp(`^Revoke .?${name}`));
  await says(page, "Revoke this key?");
  await press("button", new RegExp(`^Revoke .?${name}`));
  await says(page, /^The key .* is revoked/);
}

/** "This was not me". */
export async function shutAccount(hands: Hands): Promise<void> {
  const { page, press } = hands;
  await go(hands, "This was not me");
  await press("button", "Shut my account …");
  await press("button", "Yes, shut my account now");
  await arrive(page, "Your account is shut");
}

export async function forgetPassword({ page, press, type }: Hands, username: string): Promise<void> {
  await page.goto("/login?as=admin");
  await press("link", "Forgotten your password?");
  await arrive(page, "Forgotten password");
  await type("Username", username);
  await press("button", "Send me a link");
  await says(page, "A link is on its way, if there is such an administrator");
}

/** Sets a password by the mailed link, and goes on to the login. */
export async function resetPassword({ page, press, type }: Hands, link: string, password: string): Promise<void> {
  await page.goto(link);
  await type("New password", password);
  await press("button", "Set the password");
  await says(page, "The password is set");
  await press("link", "Log in as administrator");
  await arrive(page, "Log in");
}

export async function createUser(hands: Hands, username: string, email: string): Promise<void> {
  const { page, press, type } = hands;
  await go(hands, "Users");
  await press("button", "Create a user …");
  await type("Username", username);
  await type("E-mail", email);
  await press("button", "Create the user");
  await says(page, new RegExp(`^${username} was created`));
}

/** Searches, chooses all that is found, and extends them. */
export async function extendFound(hands: Hands, search: string, users: number): Promise<void> {
  const { page, press, type } = hands;
  await go(hands, "Users");
  await type("Search", search);
  await says(page, `${users} users match.`);
  await press("checkbox", /^Select all/);
  await press("button", `Extend ${users} users …`);
  await type("More days", "7");
  await press("button", "Show what will happen");
  await press("button", `Extend ${users} users`);
  await says(page, `${users} users were extended.`);
  await press("button", "Close");
}

/** Opens the page about a user from the list. */
export async function openUser(hands: Hands, username: string): Promise<void> {
  await go(hands, "Users");
  await hands.type("Search", username);
  await says(hands.page, "1 user matches.");
  await hands.press("link", username);
  await arrive(hands.page, new RegExp(username));
}

export async function disableUser({ page, press }: Hands, username: string): Promise<void> {
  await press("button", "Disable …");
  await says(page, `${username} can no longer log in.`);
  await press("button", "Disable");
  await says(page, `${username} was disabled.`);
}

export async function deleteUser({ page, press, type }: Hands, username: string): Promise<void> {
  await press("button", "Delete …");
  await says(page, `${username} is deleted for good; the audit records stay.`);
  await type(`Type ${username} to delete this user`, username);
  await press("button", "Delete for good");
  await says(page, `${username} was deleted.`);
}

/** Asks what a setting would do, and leaves it. */
export async function previewSetting(hands: Hands): Promise<void> {
  const { page, press, type } = hands;
  await go(hands, "Settings");
  await press("button", "Change: How long an expired account is kept");
  await type("New value", "20d");
  await press("button", "See what would happen");
  await says(page, "What will happen");
  await press("button", "Cancel");
}

/** Filters the audit log by what was done. */
export async function filterAudit(hands: Hands, action: string): Promise<void> {
  const { page, press, choose, unfold } = hands;
  await go(hands, "Audit log");
  await unfold(/^Filter/);
  await choose("What was done", action);
  await press("button", "Show records");
  await page.waitForURL(/action=/);
}

/** Exports the log; returns the file's text. */
export async function exportAudit({ page, press }: Hands): Promise<string> {
  const [download] = await Promise.all([page.waitForEvent("download"), press("button", "Export as CSV")]);
  await says(page, /is complete/);
  return await Bun.file(await download.path()).text();
}

/** Logs out by the header. */
export async function logOut({ page, press }: Hands): Promise<void> {
  await press("button", "Log out");
  await page.getByRole("link", { name: "Log in" }).first().waitFor();
}

/** A user whose time is up asks for more. */
export async function askForTime(hands: Hands, days: number, reason: string): Promise<void> {
  const { page, press, type, unfold } = hands;
  await go(hands, "Overview", "Your access");
  await page.getByText("Ask for more time", { exact: true }).first().waitFor();
  if (!(await page.getByLabel("Days", { exact: true }).isVisible())) await unfold("Ask for more time");
  await type("Days", String(days));
  await type("Reason", reason);
  await press("button", "Send the request");
  await says(page, /^Your request was sent|^Your request is waiting/);
}

export async function approveTime(hands: Hands, username: string): Promise<void> {
  const { page, press } = hands;
  await go(hands, "Applications");
  // A list that was opened shortly before is not asked for again by itself.
  await page.reload();
  await press("button", `Approve … ${username}`);
  await press("button", "Approve");
  await says(page, `${username}: approved, and access is extended.`);
}
