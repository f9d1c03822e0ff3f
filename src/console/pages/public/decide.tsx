/** The page behind a sponsor's mailed link. Opening it decides nothing; the token is in the fragment, and leaves the address at once. */

import { Fragment } from "preact";
import { useEffect, useState } from "preact/hooks";
import { MAX_REASON } from "../../../shared/text/person.ts";
import { type AnswerOf, api } from "../../api.ts";
import { decideTexts as texts } from "../../texts/decide.ts";
import { useAction } from "../../ui/action.ts";
import { Button } from "../../ui/button.tsx";
import { Area } from "../../ui/field.tsx";
import { isolated } from "../../ui/isolated.ts";
import { Loading } from "../../ui/loading.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Page } from "../../ui/page.tsx";
import { Time } from "../../ui/time.tsx";
import { Typed } from "../../ui/typed.tsx";
import { End, Shorten } from "./decide-further.tsx";
import { useFragment } from "./fragment.ts";
import { Outcome } from "./outcome.tsx";
import { Refusal } from "./refusal.tsx";

type Asked = AnswerOf<"POST /decisions/look">;
type Item = Asked["items"][number];
type Given = NonNullable<Asked["answered"]>[number];
type Decided = AnswerOf<"POST /decisions">;

/** So many facts are in sight, and the rest is folded if it is more than a line or two. */
const IN_SIGHT = 6;
const WORTH_FOLDING = 3;
/** What every host has done by so long after the answer, in milliseconds, was done with it. */
const AT_ONCE = 60_000;

export function Decide() {
  const token = useFragment(tokenOf);
  if (token !== undefined) return <Questions key={token} token={token} />;
  return (
    <Page title={texts.title}>
      <Notice kind="warn" title={texts.none.title}>
        <p>{texts.none.text}</p>
      </Notice>
    </Page>
  );
}

/** The token of `#TOKEN`; the link to the content is none. */
function tokenOf(fragment: string): string | undefined {
  const token = fragment.replace(/^#/, "");
  return /^[\w-]{20,200}$/.test(token) ? token : undefined;
}

function Questions({ token }: { readonly token: string }) {
  const [asked, setAsked] = useState<Asked>();
  const [answeredNow, setAnsweredNow] = useState(0);
  const looking = useAction(async () => setAsked(await api("POST /decisions/look", { body: { token } })));
  useEffect(() => void looking.run(), []);
  if (asked === undefined) {
    const { failure } = looking;
    return <Page title={texts.title}>{failure === undefined ? <Loading /> : <Refusal failure={failure} />}</Page>;
  }
  const { items, kind, answered } = asked;
  const left = items.length - (answered?.length ?? 0) - answeredNow;
  const { title, lead } = left > 0 ? { title: texts.title, lead: asked.question } : texts.done;
  return (
    <Page title={title}>
      <div class="stack">
        <p class="lead">{lead}</p>
        {left === items.length ? <p>{kind === "vouch" ? `${texts.unchecked} ${texts.opened}` : texts.opened}</p> : null}
        {items.map((item) => (
          <Question
            key={item.id}
            {...{ token, item, kind, left }}
            given={answered?.find(isAbout(item))}
            isOnly={items.length === 1}
            onAnswered={() => setAnsweredNow((before) => before + 1)}
          />
        ))}
      </div>
    </Page>
  );
}

interface QuestionProps {
  readonly token: string;
  readonly kind: Asked["kind"];
  readonly item: Item;
  /** What was answered when the page was opened. */
  readonly given: Given | undefined;
  /** How many are not answered yet, on the whole page. */
  readonly left: number;
  readonly isOnly: boolean;
  readonly onAnswered: () => void;
}

/** One thing that is asked, or what was answered about it. */
function Question({ token, kind, item, given, left, isOnly, onAnswered }: QuestionProps) {
  const [reason, setReason] = useState("");
  const [sent, setSent] = useState("");
  const [decided, setDecided] = useState<Decided>();
  const [isLeft, setLeft] = useState(false);
  const sending = useAction(async (answer: string, until?: string) => {
    if (answer === "") return setLeft(true);
    setSent(answer);
    const answers = [{ id: item.id, answer, reason: reason.trim(), ...(until === undefined ? {} : { until }) }];
    setDecided(await api("POST /decisions", { body: { token, answers } }));
    onAnswered();
  });
  const answered = decided?.answered.find(isAbout(item)) ?? given;
  return (
    <section class="card" aria-labelledby={`item-${item.id}`}>
      <h2 id={`item-${item.id}`}>{isolated(item.username)}</h2>
      {answered === undefined || isOnly ? (
        <Facts of={item} />
      ) : (
        <details>
          <summary>{texts.known}</summary>
          <Facts of={item} />
        </details>
      )}
      {answered !== undefined ? (
        <Answered {...{ kind, item, answered, decided, left }} />
      ) : isLeft ? (
        <Outcome>
          <Notice kind="info">
            <p>{texts.left}</p>
          </Notice>
        </Outcome>
      ) : (
        <div class="form">
          <details>
            <summary>{texts.addReason}</summary>
            <Area
              name="reason"
              label={texts.reason}
              hint={texts.reasonHint}
              value={reason}
              onValue={setReason}
              maxLength={MAX_REASON}
              rows={2}
            />
          </details>
          <Refusal failure={sending.failure} />
          <div class="answers">
            {texts.buttons[kind].map(({ answer, label, kind: look }) => (
              <Button
                key={answer}
                kind={look as "primary"}
                busy={sending.busy && sent === answer && texts.sending}
                onClick={() => void sending.run(answer)}
              >
                {label(isolated(item.username))}
              </Button>
            ))}
            {kind === "review" ? (
              <>
                <Shorten
                  name={isolated(item.username)}
                  isSending={sending.busy && sent === "shorten"}
                  onDay={(until) => void sending.run("shorten", until)}
                />
                <End
                  name={isolated(item.username)}
                  isSending={sending.busy && sent === "end"}
                  onEnd={() => void sending.run("end")}
                />
              </>
            ) : null}
          </div>
          {texts.follows[kind] === "" ? null : <p class="hint">{texts.follows[kind]}</p>}
        </div>
      )}
    </section>
  );
}

/** The evidence. Of several, the answered ones are folded, so that the next is in sight. */
function Facts({ of: { evidence } }: { readonly of: Item }) {
  const shown = evidence.length < IN_SIGHT + WORTH_FOLDING ? evidence.length : IN_SIGHT;
  return (
    <>
      <FactList facts={evidence.slice(0, shown)} />
      {shown === evidence.length ? null : (
        <details>
          <summary>{texts.rest}</summary>
          <FactList facts={evidence.slice(shown)} />
        </details>
      )}
    </>
  );
}

function FactList({ facts }: { readonly facts: Item["evidence"] }) {
  return (
    <dl class="facts beside">
      {facts.map(({ name, value }) => (
        <Fragment key={name}>
          <dt>{name}</dt>
          <dd>
            <Typed text={value} />
          </dd>
        </Fragment>
      ))}
    </dl>
  );
}

interface AnsweredProps {
  readonly kind: Asked["kind"];
  readonly item: Item;
  readonly answered: Given;
  /** Undefined for what was answered before the page was opened. */
  readonly decided: Decided | undefined;
  readonly left: number;
}

function Answered({ kind, item, answered: { answer, reason, until, at }, decided, left }: AnsweredProps) {
  const say = texts.said[answer] ?? texts.saidOther;
  const end = decided?.effective_by;
  const notice = (
    <Notice kind="good" title={say(isolated(item.username))}>
      {reason === "" ? null : (
        <p>
          {texts.reason}: <Typed text={reason} />
        </p>
      )}
      {until === null ? null : (
        <p>
          {texts.until} <Time at={until} isEnd />
        </p>
      )}
      <p>
        {texts.on} <Time at={at} both />
      </p>
      {end === undefined ? null : end === null ? (
        <p>{texts.later}</p>
      ) : Date.parse(end) - Date.parse(at) < AT_ONCE ? (
        <p>{texts.everywhere}</p>
      ) : (
        <p>
          {texts.everywhereBy} <Time at={end} both />
        </p>
      )}
      {kind === "vouch" ? <p>{texts.follows.vouch}</p> : null}
      <p>{left > 0 ? texts.more(left) : texts.done.here}</p>
    </Notice>
  );
  return decided === undefined ? notice : <Outcome>{notice}</Outcome>;
}

function isAbout({ id }: Item) {
  return (given: Given) => given.id === id;
}
