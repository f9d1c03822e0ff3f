/** For the document: what routes say that ask again who one is. */

/** How, in a route's description. */
export const CONFIRMED =
  "Takes the present password, or a passkey that one has; of who has neither, nothing, within 5 minutes of a login at the provider of single sign-on. A wrong password counts as a failed login does.";

/** What the refusals mean. */
export const confirming = {
  401: { description: "Not logged in, or the passkey was not accepted" },
  403: {
    description:
      "The present password is wrong, or the login at the provider too long ago, or no permission, or sent from another origin",
  },
};
