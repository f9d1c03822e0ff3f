/** Settings that other pages speak of. Only owners and auditors may read them. */

import { useQuery } from "@tanstack/preact-query";
import { type AnswerOf, api } from "../../api.ts";
import { maySee } from "../../roles.ts";
import { useRole } from "./for-role.tsx";

type Settings = AnswerOf<"GET /settings">;

/** The setting's duration in force; undefined until it is known, and where it may not be read. */
export function useSetting(key: Settings["items"][number]["key"]): string | undefined {
  const { data } = useQuery<Settings, Error>({
    queryKey: ["GET /settings", {}, {}],
    queryFn: ({ signal }) => api("GET /settings", { signal }),
    enabled: maySee(useRole(), "settings"),
  });
  return data?.items.find((item) => item.key === key)?.value;
}
