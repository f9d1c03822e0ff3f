/** The console: starts in the one document that the service hands out for every page. */

import { render } from "preact";
import { App } from "./app.tsx";
import { showDensity } from "./compact.ts";
import "./styles/console.css";

const root = document.getElementById("app");
if (root === null) throw new Error("The document has no place for the console");
root.replaceChildren();
// The router would take this for the address of another host.
const { pathname, search, hash } = location;
if (pathname.startsWith("//")) history.replaceState(null, "", pathname.replace(/^\/+/, "/") + search + hash);
showDensity();
render(<App />, root);
