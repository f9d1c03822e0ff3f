/** The console: starts in the one document that the service hands out for every page. */

import { render } from "preact";
import { App } from "./app.tsx";
import { showDensity } from "./compact.ts";
import { readInstallation } from "./installation.ts";
import "./styles/console.css";

/** How long the first page waits for what all pages show of the installation, in milliseconds; later, that moves what stands below it. */
const PATIENCE = 1000;

const root = document.getElementById("app");
if (root === null) throw new Error("The document has no place for the console");
// The router would take this for the address of another host.
const { pathname, search, hash } = location;
if (pathname.startsWith("//")) history.replaceState(null, "", pathname.replace(/^\/+/, "/") + search + hash);
showDensity();
void start(root);

async function start(place: HTMLElement): Promise<void> {
  // The document has the browser ask for it while this script is on its way.
  await Promise.race([readInstallation().catch(() => {}), new Promise((resolve) => setTimeout(resolve, PATIENCE))]);
  place.replaceChildren();
  render(<App />, place);
}
