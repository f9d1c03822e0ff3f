/** Whether the provider of single sign-on answers, and is who it should be. */

import type { SsoProvider } from "../domain/auth/sso/provider.ts";
import { UamError } from "../shared/errors.ts";
import { areaOf, type Finding } from "./finding.ts";

/** A fault where nobody could log in by it; none without single sign-on. */
export async function checkSingleSignOn(provider: SsoProvider | undefined): Promise<readonly Finding[]> {
  const area = areaOf("sign-on");
  if (provider === undefined) return [];
  try {
    await provider.check();
    return [area.ok(`The provider ${provider.issuer} answers as it should`)];
  } catch (error) {
    if (!(error instanceof UamError)) throw error;
    const what = error.cause instanceof Error ? error.cause.message : error.message;
    const remedy = "correct UAM_OIDC_ISSUER, or wait for the provider; logins with a password go on";
    return [area.fault(`The provider ${provider.issuer} does not answer as it should: ${what}`, remedy)];
  }
}
