/** The browser's session. All tabs agree: one that logs in or out tells the others. */

import { type ComponentChildren, createContext } from "preact";
import { useCallback, useContext, useEffect, useState } from "preact/hooks";
import { type AnswerOf, ApiFailure, api, watchSession } from "./api.ts";
import { COMPACT } from "./compact.ts";
import { SINGLE_KEYS } from "./single-keys.ts";

export type Principal = AnswerOf<"GET /auth/me">;

export type SessionState =
  | { readonly kind: "loading" }
  | { readonly kind: "none" /** Whether there was one until now. */; readonly ended: boolean }
  | { readonly kind: "open"; readonly principal: Principal }
  | { readonly kind: "failed"; readonly failure: unknown };

export interface Session {
  readonly state: SessionState;
  /** Takes over what a login answered. */
  enter(principal: Principal): void;
  /** Logs out; on return the session has ended. */
  leave(): Promise<void>;
  /** Takes note that the service ended the session. */
  end(): void;
  /** Asks the service again. */
  refresh(): void;
}

const SessionContext = createContext<Session | undefined>(undefined);

/** The session; only below SessionProvider. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === undefined) throw new Error("There is no SessionProvider");
  return session;
}

export function SessionProvider({ children }: { readonly children: ComponentChildren }) {
  const [state, setState] = useState<SessionState>(() => (isMarked() ? { kind: "loading" } : NONE));
  const refresh = useCallback(() => {
    readSession().then(setState, (failure: unknown) => setState({ kind: "failed", failure }));
  }, []);
  const end = useCallback(() => {
    localStorage.removeItem(MARK);
    setState({ kind: "none", ended: true });
  }, []);

  useEffect(() => {
    watchSession(end);
    refresh();
    const others = new BroadcastChannel("session");
    // The other tab's storage may become visible only after its message, so the message says what happened.
    others.onmessage = ({ data }: MessageEvent<News>) => {
      if (data === "left") setState(NONE);
      else askSession().then(setState, (failure: unknown) => setState({ kind: "failed", failure }));
    };
    // A page that the back button brings out of the browser's memory may show what has since been left.
    const restored = (event: PageTransitionEvent) => {
      if (event.persisted) location.reload();
    };
    addEventListener("pageshow", restored);
    return () => {
      others.close();
      removeEventListener("pageshow", restored);
    };
  }, []);

  const session: Session = {
    state,
    enter: (principal) => {
      localStorage.setItem(MARK, "open");
      setState({ kind: "open", principal });
      tellOthers("entered");
    },
    leave: async () => {
      const kept = KEPT.map((name) => [name, localStorage.getItem(name)] as const);
      await api("POST /auth/logout").catch((error: unknown) => {
        // Without a session there is nothing to leave.
        if (!(error instanceof ApiFailure && error.status === 401)) throw error;
      });
      localStorage.removeItem(MARK);
      // The answer had the browser forget all; this says nothing of what was done here.
      for (const [name, value] of kept) if (value !== null) localStorage.setItem(name, value);
      setState(NONE);
      tellOthers("left");
    },
    end,
    refresh,
  };
  return <SessionContext.Provider value={session}>{children}</SessionContext.Provider>;
}

/** Says that this browser logged in: without it no session is asked for, and the first page costs no refused request. No secret. */
const MARK = "session";

/** Which of the two logins was used last. */
export const CHOSEN_LOGIN = "login";

/** What is this browser's rather than the session's. */
const KEPT = [CHOSEN_LOGIN, SINGLE_KEYS, COMPACT];

const NONE: SessionState = { kind: "none", ended: false };

function isMarked(): boolean {
  return localStorage.getItem(MARK) !== null;
}

async function readSession(): Promise<SessionState> {
  return isMarked() ? await askSession() : NONE;
}

async function askSession(): Promise<SessionState> {
  try {
    return { kind: "open", principal: await api("GET /auth/me") };
  } catch (error) {
    if (!(error instanceof ApiFailure && error.status === 401)) throw error;
    localStorage.removeItem(MARK);
    return { kind: "none", ended: true };
  }
}

/** The message from one tab to the others. */
type News = "entered" | "left";

function tellOthers(news: News): void {
  const channel = new BroadcastChannel("session");
  channel.postMessage(news);
  channel.close();
}
