/** The provider of single sign-on, from the configuration. */

import type { Config } from "../../../config/config.ts";
import type { SsoProvider } from "../../../domain/auth/sso/provider.ts";
import type { Services } from "../../../domain/operation/context.ts";
import { API_ROOT } from "../../../server/api/app.ts";
import { SSO_CALLBACK } from "../../../server/api/handlers/sso.ts";
import { parseRoleRule } from "../../../shared/product/role-rules.ts";

/** The provider, or undefined without single sign-on, whose library is then not loaded; nothing is asked of it yet. */
export async function ssoProviderOf(
  config: Config,
  services: Pick<Services, "clock" | "log">,
): Promise<SsoProvider | undefined> {
  const { oidcIssuer: issuer, oidcClientId: clientId, oidcClientSecret: clientSecret, oidcRoles = [] } = config;
  if (issuer === undefined || clientId === undefined || clientSecret === undefined) return undefined;
  const redirectUri = `${config.baseUrl}${API_ROOT}${SSO_CALLBACK}`;
  const rules = oidcRoles.map(parseRoleRule);
  const { oidcScope: scope, oidcName: name } = config;
  const settings = { issuer, clientId, clientSecret, redirectUri, scope, name, rules };
  const { createSsoProvider } = await import("../../../server/sso/provider.ts");
  return createSsoProvider(settings, { clock: services.clock, log: services.log });
}
