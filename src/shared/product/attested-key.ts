/** How a security key is made whose make can be proven: the same words in the API, the pages and the mails. */

/** The file with the challenge, as pages offer it. */
export const CHALLENGE_FILE = "uam-challenge";

/** Run where that file is, with the security key plugged in. */
export const ATTESTED_KEY_COMMAND = `ssh-keygen -t ed25519-sk -O verify-required -O challenge=${CHALLENGE_FILE} -O write-attestation=uam-attestation`;
