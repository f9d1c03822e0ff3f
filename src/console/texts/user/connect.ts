/** Texts of the page about connecting. */

export const connectTexts = {
  title: "Connect to the host",
  hosts: {
    title: "Your hosts",
    states: { applied: "ready", pending: "not ready yet", problem: "not at present" },
    why: {
      pending: "What was changed last does not hold there yet. As a rule that takes seconds.",
      problem: "Your account there does not open at present. The administrators see it too.",
    },
    command: (name: string) => `Command that connects to ${name}`,
    more: (name: string) => `Everything about connecting to ${name}`,
    part: (name: string) => `Connecting to ${name}`,
    unknown: (name: string) => `${name} has not said yet where it can be reached.`,
  },
  noKeys: {
    title: "No key opens your account yet",
    text: "Add a key first; then everything here works.",
    link: "Add your first key",
  },
  noHost: {
    title: "The host is somewhere else",
    text: (account: string) =>
      `This service is not on the host that you connect to. Log in there with ssh as ${account}. For the name of the host, ask:`,
  },
  command: {
    title: "The command",
    text: "In a terminal on Linux or macOS, or in PowerShell on Windows:",
    /** Of several, by their order. */
    labelOf: (index: number, total: number) =>
      `Command that connects to the host${total === 1 ? "" : `, ${index + 1} of ${total}`}`,
    may: (means: string) => `Your account ${means}.`,
    forward:
      "As long as a command runs, your programs reach its target on your own machine: as localhost, at the port behind -L.",
    key: "If your key is not in the usual place, say where its private file is:",
    keyLabel: "Command that connects with a certain key",
    keyFile: "~/.ssh/id_ed25519",
  },
  first: {
    title: "The first time: is it the right host?",
    text: "The first time, ssh cannot know the host and asks you:",
    sample: (host: string, fingerprint: string, type: string) =>
      `The authenticity of host '${host}' can't be established.\n${type} key fingerprint is ${fingerprint}.\nAre you sure you want to continue connecting (yes/no/[fingerprint])?`,
    sampleLabel: "What ssh asks",
    compare: "The fingerprint that it shows must be one of these:",
    fingerprint: (type: string) => `Fingerprint of the host's ${type} key`,
    answer:
      "Answer by pasting that fingerprint instead of yes: then ssh itself compares it. An older ssh takes only yes or no; compare it letter by letter then.",
    wrong: "It is none of these? Answer no, and do not connect: something is between you and the host. Whom to tell:",
    changed: "The same holds if ssh says later that the host identification has changed.",
    unknown: "This service does not know the host's fingerprints. Before you answer yes, ask for them:",
  },
  known: {
    title: "Or tell ssh beforehand",
    text: "With these lines in the file of known hosts, ssh does not ask at all:",
    label: "Lines for the file of known hosts",
    where: "The file is ~/.ssh/known_hosts on Linux and macOS, and %USERPROFILE%\\.ssh\\known_hosts on Windows.",
  },
  config: {
    title: "A shorter command",
    text: (host: string) =>
      `With this block in ~/.ssh/config (Windows: %USERPROFILE%\\.ssh\\config), “ssh ${host}” is enough, and scp, sftp and editors know account and port too:`,
    plain: (host: string) =>
      `With this block in ~/.ssh/config (Windows: %USERPROFILE%\\.ssh\\config), ssh, scp and sftp know account and port of ${host}:`,
    label: "Block for the configuration of ssh",
  },
  putty: {
    title: "PuTTY on Windows",
    text: "In PuTTY's configuration, from top to bottom:",
    place: "Field",
    value: "Value",
    caption: "What to enter in PuTTY",
    host: "Session: Host Name",
    port: "Session: Port",
    kind: "Session: Connection type",
    user: "Connection › Data: Auto-login username",
    file: "Connection › SSH › Auth › Credentials: Private key file",
    fileValue: "your .ppk file",
    key: "The first time, PuTTY shows the host key's fingerprint too. Press Accept only if it is one of those above.",
  },
  trouble: {
    title: "If it does not work",
    list: [
      [
        "Permission denied (publickey)",
        "Your access has ended, or is not open now: the overview says so. Or the key that ssh offers is not one of yours here: compare the fingerprint of your file (ssh-keygen -l -f FILE) with those of your keys, or name the file with -i.",
      ],
      [
        "Too many authentication failures",
        "Your ssh agent offers too many keys. Add -o IdentitiesOnly=yes and -i with the right file.",
      ],
      [
        "Connection timed out, or refused",
        "Host or port is not reachable from where you are. Check both letter by letter; a VPN may be needed.",
      ],
      [
        "Connection closed at once",
        "Your access may have ended: the overview says until when it lasts. Or the host keeps your network out for some minutes, because logins from there were refused: stop programs that keep trying, and wait.",
      ],
    ] as readonly (readonly [string, string])[],
  },
};
