/** The whole application with its console on a port, on a real database, with a fake host and clock: what browser tests look at. */

import type { Browser } from "playwright-core";
import { bundleConsole } from "../../../src/build/console.ts";
import { printCode } from "../../../src/domain/auth/codes/otp.ts";
import { createConsole } from "../../../src/server/console/console.ts";
import { readLogo } from "../../../src/server/console/logo.ts";
import { ADMIN_PASSWORD, CODE_COOLDOWN, createTestApp, type TestApp } from "../../support/app.ts";
import { logIn, openPage, type WatchedPage } from "./browser.ts";
import type { Screen } from "./screens.ts";
import { answerSlowly } from "./slow.ts";

export interface ConsoleApp extends TestApp {
  readonly origin: string;
}

let bundled: ReturnType<typeof bundleConsole> | undefined;

/** So that pages do not say that there is none; nothing is sent. */
const MAIL = { UAM_SMTP_URL: "smtp://192.0.2.1", UAM_MAIL_FROM: "uam@example.org" };

/** Opens the application; the console is bundled from the sources. `host` is what the browser calls it: for passkeys it needs a name. */
export async function openConsoleApp(
  variables: Record<string, string> = {},
  host: "127.0.0.1" | "localhost" = "127.0.0.1",
): Promise<ConsoleApp> {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    fetch: () => new Response(null, { status: 503 }),
  });
  const origin = `http://${host}:${server.port}`;
  bundled ??= bundleConsole();
  const { UAM_BRAND_LOGO: file } = variables;
  const logo = file === undefined ? undefined : readLogo(file);
  const pages = createConsole(await bundled, () => logo);
  const system = await createTestApp(
    { UAM_BASE_URL: origin, ...MAIL, ...variables },
    { pages, logo: () => logo?.path },
  );
  server.reload({
    fetch: (request) => answerSlowly(request, async (late) => await system.app.fetch(late, "127.0.0.1")),
  });
  return {
    ...system,
    origin,
    close: async () => {
      await server.stop(true);
      await system.close();
    },
  };
}

/** Opens a page for whoever looks at a screen: the user is `alice`. */
export function openFor(browser: Browser, system: ConsoleApp, who: Screen["who"]): Promise<WatchedPage> {
  if (who === "nobody") return openPage(browser, system.origin);
  return openSignedIn(browser, system, who === "admin" ? "admin" : { user: "alice" });
}

/** Opens a page that is logged in, as the administrator or as the user named. */
export async function openSignedIn(
  browser: Browser,
  system: ConsoleApp,
  who: "admin" | { readonly user: string },
): Promise<WatchedPage> {
  const watched = await openPage(browser, system.origin);
  await watched.page.clock.setFixedTime(system.clock.now());
  if (who === "admin") {
    await system.admin();
    await logIn(watched, "/auth/admin/login", { username: "admin", password: ADMIN_PASSWORD });
  } else {
    system.clock.advance(CODE_COOLDOWN);
    const { code } = await printCode(system.system, who.user);
    await logIn(watched, "/auth/otp/login", { username: who.user, code });
  }
  return watched;
}
