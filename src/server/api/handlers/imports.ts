/** /users/import: many new users from one file. */

import type { imports } from "../../../contract/users/import.ts";
import { checkImport } from "../../../domain/users/import/check.ts";
import { importUsers } from "../../../domain/users/import/import-users.ts";
import { welcomeUser } from "../../../domain/users/welcome.ts";
import { createSlots } from "../../../shared/work/bounded.ts";
import { importPreviewRecord, importRecord } from "../../import-record.ts";
import type { Handlers } from "../http/call.ts";
import { infoOf, isPreview } from "../http/request.ts";

/** A file is as large as a hundred other bodies, and takes seconds of a processor. */
const places = createSlots({
  concurrency: 1,
  retryAfter: 10,
  refusal: "Another file is being imported; try again soon",
});

export const importHandlers: Handlers<typeof imports> = {
  "POST /users/import": async ({ context, request, query, body: { bytes } }) => {
    const leave = places.take();
    try {
      // Making thousands of accounts on a host takes minutes.
      infoOf(request).hold(0);
      if (isPreview(query)) return importPreviewRecord(await checkImport(context, bytes));
      const options = { onlyGood: query.only_good === "true", mail: query.mail !== "false" };
      return importRecord(await importUsers(context, bytes, options));
    } finally {
      leave();
    }
  },

  "POST /users/:id/welcome": async ({ context, params }) => {
    await welcomeUser(context, params.id);
    return { status: "welcomed" };
  },
};
