/** When the next review begins by itself, and about whom; or that none does, and where that is set. */

import { PAGES } from "../../../shared/product/pages.ts";
import { mayChange, maySee } from "../../roles.ts";
import { reviewTexts } from "../../texts/admin/reviews.ts";
import { settingsTexts } from "../../texts/admin/settings.ts";
import { day, useNow } from "../../ui/clock.ts";
import { later, millisecondsOf } from "../admin/days.ts";
import { useRole } from "../admin/for-role.tsx";
import { useSetting } from "../admin/setting.ts";
import { durationWords } from "../admin/settings/duration.ts";
import type { Review } from "./record.ts";

const { next: texts } = reviewTexts;

/** `newest`: the newest reviews; without one of everybody among them nothing says from when the service counts. */
export function NextReview({ newest }: { readonly newest: readonly Review[] }) {
  const role = useRole();
  const every = useSetting("policy.review_every");
  const present = useNow();
  if (every === undefined) return maySee(role, "settings") ? null : <p>{texts.hidden}</p>;
  const interval = millisecondsOf(every);
  // The service knows no other values.
  if (every !== "off" && interval === undefined) return null;
  const last = newest.find(({ scope }) => scope === "all");
  const at = last === undefined || interval === undefined ? undefined : later(last.started_at, interval);
  const when = at === undefined ? texts.counted : Date.parse(at) <= present ? texts.due : texts.on(day(at));
  return (
    <p>
      {every === "off" ? texts.none : texts.every(durationWords(every, settingsTexts), when)}{" "}
      {mayChange(role, "settings") ? <a href={PAGES.settings}>{texts.set}</a> : null}
    </p>
  );
}
