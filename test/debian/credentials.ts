/** The commands of docs/configuration.md for a secret that systemd decrypts for the unit alone. */

import { commandsUnder } from "../support/documents.ts";
import { answers } from "./checks.ts";
import type { Container } from "./container.ts";
import { same, step } from "./steps.ts";

const SECRET = "re_a-secret-of-this-test";
const NAME = "UAM_RESEND_API_KEY";
const STORED = `/etc/credstore.encrypted/${NAME}`;
const LINE = `LoadCredentialEncrypted=${NAME}:${STORED}`;
const DROP_IN = "/etc/systemd/system/uam.service.d";
/** `uam config` ends so where the configuration is faulty. */
const FAULTY = 78;

/** Throws at the first thing that is wrong; the service runs on as before. */
export async function credentials(container: Container): Promise<void> {
  const isSet = async (command: string) =>
    same(await container.sh(`${command} | grep ^${NAME}`), `${NAME}=(set)\n`, command);
  await step("a secret is a credential of the unit, encrypted on the disk", async () => {
    await container.sh("cp /etc/uam/uam.env /root/uam.env; echo UAM_MAIL_FROM=uam@example.org >>/etc/uam/uam.env");
    for (const command of commands()) await container.sh(command);
    await answers(container);
    await container.sh(`test -s ${STORED} && ! grep -rq ${SECRET} /etc`);
    await isSet("uam config");
  });
  await step("while the service is stopped commands say that it is missing, and can be given it", async () => {
    await container.sh("systemctl stop uam");
    const { status, stderr } = await container.attempt("uam config");
    if (status !== FAULTY || !stderr.includes("while the service runs")) throw new Error(`${status}: ${stderr}`);
    await isSet(`systemd-run --quiet --pipe --wait -p ${LINE} uam config`);
    await container.sh(`rm -r ${DROP_IN} /etc/credstore.encrypted; mv /root/uam.env /etc/uam/uam.env`);
    await container.sh("systemctl daemon-reload; systemctl start uam");
    await answers(container);
  });
}

/** They ask for the secret, and open an editor. */
function commands(): readonly string[] {
  return commandsUnder("docs/configuration.md", "Secrets").map((line) =>
    line
      .replaceAll("UAM_SMTP_URL", NAME)
      .replace("systemd-ask-password -n", `printf %s ${SECRET}`)
      .replace(
        /^systemctl edit uam$/,
        `mkdir ${DROP_IN}; printf '[Service]\\n${LINE}\\n' >${DROP_IN}/secret.conf; systemctl daemon-reload`,
      ),
  );
}
