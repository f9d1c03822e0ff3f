/** What a host says of the profiles. */

import * as v from "valibot";
import { described } from "../fields.ts";

export const profilesSaid = v.pipe(
  v.array(
    v.object({
      name: described("drop-box"),
      state: v.pipe(v.picklist(["applied", "problem"]), v.description("Whether it holds the profile, by its own word")),
      problem: described("sshd would let an account of it open a shell", "Empty unless there is one"),
    }),
  ),
  v.description("What the host says of the profiles; empty where it has not said, or holds none"),
);
