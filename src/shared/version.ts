/** Which build this is. */

import manifest from "../../package.json" with { type: "json" };

/** Set by the build. */
declare const UAM_BUILD_COMMIT: string | undefined;
declare const UAM_BUILD_VERSION: string | undefined;

/** The version in package.json, unless the build sets another. */
export const VERSION: string = typeof UAM_BUILD_VERSION === "string" ? UAM_BUILD_VERSION : manifest.version;

/** The commit the binary was built from, or "source" when it runs from source. */
export const COMMIT: string = typeof UAM_BUILD_COMMIT === "string" ? UAM_BUILD_COMMIT : "source";
