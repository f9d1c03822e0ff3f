/** When access is open by start and hours, in the zone of the hours and in the reader's own; and the same as a calendar. */

import { API_ROOT } from "../../../api.ts";
import { LOCALE } from "../../../texts/language.ts";
import { ownHoursTexts as texts } from "../../../texts/user/hours.ts";
import { now, zone as ownZone } from "../../../ui/clock.ts";
import { Section } from "../../../ui/page.tsx";
import type { OwnAccount } from "../own-account.ts";

const DAYS_NAMED = 6;

/** The time of a moment in a zone, with its day: today, a day of the coming week, or a date. */
function timeIn(timeZone: string, moment: string): string {
  const at = new Date(moment);
  const day = (time: Date) => time.toLocaleDateString("en-CA", { timeZone });
  const today = new Date(now());
  const time = at.toLocaleTimeString(LOCALE, { timeZone, hour: "2-digit", minute: "2-digit" });
  if (day(at) === day(today)) return texts.today(time);
  const isNear = Date.parse(day(at)) - Date.parse(day(today)) <= DAYS_NAMED * 24 * 60 * 60 * 1000;
  const named = isNear ? ({ weekday: "long" } as const) : ({ dateStyle: "medium" } as const);
  return texts.on(at.toLocaleDateString(LOCALE, { timeZone, ...named }), time);
}

/** In the zone of the hours, and in the reader's where that is another. */
function When({ at, zone }: { readonly at: string; readonly zone: string }) {
  const [there, here] = [timeIn(zone, at), timeIn(ownZone(), at)];
  return (
    <time dateTime={at}>
      {there}
      {there === here ? null : ` (${texts.here(here)})`}
    </time>
  );
}

/** Nothing for whoever has access around the clock, and for accounts that are shut. */
export function OwnHours({ own }: { readonly own: OwnAccount }) {
  const { hours, status } = own;
  if (hours === undefined || status !== "active") return null;
  const { access, access_changes_at: changes, next } = hours;
  const zone = hours.zone ?? ownZone();
  return (
    <Section title={texts.title}>
      <p class="lead">
        {access !== "open" ? texts.states[access] : changes === null ? texts.toTheEnd : texts.until}{" "}
        {access === "open" && changes !== null ? <When at={changes} zone={zone} /> : null}
      </p>
      {next === null ? null : (
        <p>
          {texts.next} <When at={next.from} zone={zone} />
        </p>
      )}
      {hours.texts.map((text) => (
        <p key={text} class="quiet">
          {text}
        </p>
      ))}
      <p>
        <a href={`${API_ROOT}/me/hours.ics`} download data-native>
          {texts.calendar}
        </a>
      </p>
    </Section>
  );
}
