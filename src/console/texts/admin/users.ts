/** The list of users, and what is done to many of them. */

import { count, inLanguage, number } from "../language.ts";

/** What is said of every action for several users. */
function words(verb: string, running: string, done: string) {
  const whom = (users: number) => `${verb} ${count(users, "user", "users")}`;
  return {
    title: whom,
    open: (users: number) => `${whom(users)} …`,
    confirm: whom,
    nothing: `Nothing: no user can be ${done}.`,
    running: (reached: number, total: number) => `${running}: ${number(reached)} of ${number(total)} done`,
    done: (users: number) => `${count(users, "user was", "users were")} ${done}.`,
  };
}

const en = {
  title: "Users",
  found: (total: number, isEverybody: boolean) =>
    isEverybody ? `${count(total, "user", "users")}.` : `${count(total, "user matches", "users match")}.`,
  filters: {
    search: "Search",
    searchHint: "A part of a name, an e-mail, a supervisor or a purpose.",
    supervisor: "Supervisor",
    supervisorHint: "Exactly this name.",
    sponsor: "Sponsor",
    sponsorHint: "An e-mail; none for nobody.",
    status: "Status",
    anyStatus: "Any",
    access: "Access now",
    accesses: {
      "": "Any",
      open: "Open",
      not_yet: "Not begun",
      outside_hours: "Outside the hours",
      on_request: "Has to ask",
      closed: "Disabled or expired",
    },
    use: "Activity",
    uses: {
      "": "Any",
      never: "Never used",
      "30d": "Silent for 30 days",
      "60d": "Silent for 60 days",
      "90d": "Silent for 90 days",
    },
    useHint: "Here and by SSH.",
    welcome: "Welcome mail",
    welcomes: { "": "Any", pending: "Not sent yet" },
    terms: "Terms of use",
    termsOf: { "": "Any", pending: "Not accepted", overdue: "Not accepted for 14 days" },
    sort: "Order",
    sorts: {
      "-created_at": "Newest first",
      created_at: "Oldest first",
      username: "Username, A to Z",
      "-username": "Username, Z to A",
      expire_at: "Access ends soonest",
      "-expire_at": "Access ends latest",
    },
  },
  columns: {
    select: "Select",
    selectOne: (name: string) => `Select ${name}`,
    user: "Username",
    contact: "E-mail, supervisor",
    supervisor: "Supervisor",
    status: "Status",
    untold: "not told yet",
    shut: { not_yet: "not begun", outside_hours: "outside the hours", on_request: "has to ask" },
    login: "Last login",
    never: "never",
    keys: "Keys",
    used: "used",
    notUsed: "no use known",
    ends: "Access ends",
    shutBefore: "has none now; it would end",
  },
  empty: {
    nobody: "There are no users yet. Create one, or approve an application.",
    applications: "Go to the applications",
    filtered: "No user matches.",
    everybody: "Show all users",
  },
  bulk: {
    label: "Change several users",
    all: (shown: number) => `Select all ${number(shown)} on this page`,
    selected: (users: number, pages: number, isHere: boolean) =>
      `${number(users)} selected${pages > 1 || !isHere ? ` on ${count(pages, "page", "pages")}` : ""}`,
    allMatching: (total: number) => `Select all ${number(total)} that match`,
    selecting: "Selecting …",
    most: (most: number) => `At most ${number(most)} can be selected at once: use the filters.`,
    clear: "Select none",
    hint: "Select users to extend or disable several at once.",
    untilHint: (zone: string) => `Instead of days; whoever has a later end keeps it. In your time zone, ${zone}.`,
    check: "Show what will happen",
    checking: (reached: number, total: number) =>
      `Asking what would happen: ${number(reached)} of ${number(total)} users`,
    expected: "What will happen",
    each: (users: number) =>
      users === 1 ? "What happens to this user" : `What happens to each of the ${number(users)}`,
    refused: (users: number) => `Not possible for ${count(users, "user", "users")}, who will be left as they are`,
    already: (users: number) =>
      `${count(users, "of them is disabled already; the account is", "of them are disabled already; their accounts are")} shut once more.`,
    back: "Change the end",
    later: (users: number) => `${count(users, "user keeps a later end", "users keep their later ends")}.`,
    stop: "Stop after this one",
    failed: (users: number) => `Failed for ${count(users, "user", "users")}`,
    notReached: (users: number) => `Stopped. ${count(users, "user was", "users were")} not touched.`,
    extending: {
      ...words("Extend", "Extending", "extended"),
      by: (days: number) => `by ${days === 0 ? "the default number of days" : count(days, "day", "days")}`,
      until: (date: string) => `until ${date}`,
      expected: (users: number, by: string) =>
        `${count(users, "user is", "users are")} extended ${by}, and told by mail.`,
    },
    disabling: {
      ...words("Disable", "Disabling", "disabled"),
      expected: (users: number, _by: string) =>
        `${count(users, "user", "users")} can no longer log in; what they have running ends now. Their scheduled jobs are removed, and enabling does not give them back. They are told by mail.`,
    },
    enabling: {
      ...words("Enable", "Enabling", "enabled"),
      expected: (users: number, _by: string) =>
        `${count(users, "user", "users")} can log in again until their access ends, and are told by mail.`,
    },
    welcoming: {
      ...words("Tell", "Sending", "told"),
      title: (users: number) => `Tell ${count(users, "user", "users")} of the account`,
      each: (email: string) => `A mail goes to ${email}.`,
      expected: (users: number, _by: string) =>
        `${count(users, "user gets", "users get")} the mail that says how to log in.`,
      confirm: (users: number) => `Send ${count(users, "mail", "mails")}`,
    },
    undoing: words("Undo for", "Undoing", "put back as they were"),
    /** Below what was done. */
    noWayBack: (names: string) =>
      `Undo leaves these as they are: ${names}. They were so before, their former end is over, or somebody else changed them first.`,
  },
  create: {
    open: "Create a user …",
    title: "Create a user",
    username: "Username",
    usernameHint:
      "1 to 28 characters: a–z, 0–9, _ and -. The first and the last are a letter or digit. It cannot be changed later.",
    usernameWrong: "This cannot be a username: use a–z, 0–9, _ and - only, and begin and end with a letter or digit.",
    withoutPrefix: (prefix: string) => `Leave out ${prefix}: the service puts it in front.`,
    email: "E-mail",
    emailWrong: "Give one address, such as name@example.org.",
    fullName: "Name",
    supervisor: "Supervisor",
    sponsor: "Sponsor's e-mail",
    sponsorHint: "Who answers for them; empty for nobody, or their company's sponsor.",
    purpose: "Purpose",
    days: "Days of access",
    daysHint: (standard: number | undefined) =>
      standard === undefined
        ? "Empty means the default."
        : `Empty means the default, ${count(standard, "day", "days")}.`,
    effectAccount: (account: string | undefined) => `The account ${account ?? "ext_…"} is created on the host.`,
    effectEnds: (date: string | undefined) =>
      date === undefined ? "Access ends after the default number of days." : `Access ends on ${date}.`,
    effectMail: (email: string) => `${email === "" ? "The user" : email} gets a mail that says how to log in.`,
    submit: "Create the user",
    busy: "Creating …",
    done: (name: string) => `${name} was created. Access ends`,
    goTo: "Go to this user",
  },
};

export const userListTexts = inLanguage({ en });
