/** Which addresses lead to one mailbox. */

/** The mailbox that receives mail to the address: many providers ignore case and everything after a `+`, and some ignore dots. */
export function mailboxOf(email: string): string {
  const [local = "", domain = ""] = email.toLowerCase().split("@");
  return `${local.replace(/^([^+]+)\+.*$/, "$1").replaceAll(".", "")}@${domain === "googlemail.com" ? "gmail.com" : domain}`;
}
