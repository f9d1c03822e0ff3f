/** Prints the `captcha_code` for the answer of `GET /auth/captcha` that is in the file named: its proof of work, done. */

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import process from "node:process";

const { salt, target, maximum } = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")).data.proof;

for (let n = 0; n <= maximum; n++) {
  if (createHash("sha256").update(`${salt}${n}`).digest("hex") !== target) continue;
  console.log(`pow:${n}`);
  process.exit(0);
}
throw new Error("The task has no solution");
