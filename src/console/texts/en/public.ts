/** English: what the pages say that need no session. */

export const publicTexts = {
  home: {
    title: "SSH access for a limited time",
    lead: "Contractors, partners and auditors get an account on a host, manage their own SSH keys, and lose access when their time is up.",
    goOn: (name: string) => `Go on as ${name}`,
    login: "Log in",
    loginHint: "You have an account, or you administer this service.",
    apply: "Apply for access",
    applyHint: "You have no account yet. An administrator decides, and you are told by e-mail.",
  },
  setup: {
    title: "There is no administrator yet",
    text: "The first one is made at the shell of the machine that this service runs on, never here. Run this in a terminal there:",
    label: "Command that makes the first administrator",
    after: "It prints a password. Then log in here with it.",
  },
};
