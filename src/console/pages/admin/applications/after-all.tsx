/** The way back from a rejection: who applied is created as a user after all. */

import { useState } from "preact/hooks";
import { mayChange } from "../../../roles.ts";
import { Done, useDone } from "../done.tsx";
import { useRole } from "../for-role.tsx";
import { CreateDialog } from "../users/create.tsx";
import type { Application } from "./application.ts";

/** What was `done`; the open `dialog`; and `offer`, which opens it: undefined for what was not rejected, and for who creates no users. */
export function useAfterAll() {
  const isAllowed = mayChange(useRole(), "users");
  const [from, setFrom] = useState<Application>();
  const done = useDone();
  return {
    done: <Done what={done.what} />,
    dialog:
      from === undefined ? null : (
        <CreateDialog
          from={from}
          onClose={() => setFrom(undefined)}
          onDone={(content) => {
            setFrom(undefined);
            done.show(content);
          }}
        />
      ),
    offer: (application: Application) =>
      isAllowed && application.kind === "access" && application.status === "rejected"
        ? () => setFrom(application)
        : undefined,
  };
}
