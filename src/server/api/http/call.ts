/** The arguments and results of handlers, by the contract's entry for their route. */

import type * as v from "valibot";
import type { Route, Routes } from "../../../contract/route.ts";
import type { NewSession } from "../../../domain/auth/sessions/sessions.ts";
import type { Context } from "../../../domain/operation/context.ts";
import type { Web } from "../web.ts";
import type { Agent } from "./agent-request.ts";
import type { LiveSession } from "./request.ts";

/** Sets cookies and headers of the response. */
export interface Reply {
  /** Sets the client's session cookie, or clears it if undefined. */
  readonly session: (session: NewSession | undefined) => void;
  /** Gives the browser the secret that binds a login by single sign-on to it; takes it away if undefined. */
  readonly browser: (secret: string | undefined) => void;
  readonly header: (name: string, value: string) => void;
  /** Answers with 202: it waits for somebody's decision. */
  readonly waiting: () => void;
  /** Leads the browser there, by 303. */
  readonly redirect: (address: string) => void;
}

interface Asked {
  readonly web: Web;
  readonly request: Request;
  readonly context: Context;
}

type CallerOf<R extends Route> = R["who"] extends { readonly permission: "public" }
  ? unknown
  : R["who"] extends { readonly permission: "agent" }
    ? { readonly agent: Agent }
    : { readonly session: LiveSession };

type ParsedOf<R extends Route> = {
  readonly [Part in "params" | "query" | "body" as R extends { readonly [P in Part]: v.GenericSchema }
    ? Part
    : never]: R extends { readonly [P in Part]: infer S extends v.GenericSchema } ? v.InferOutput<S> : never;
};

type ReplyOf<R extends Route> = R extends { readonly success: object } ? { readonly reply: Reply } : unknown;

/** A request that was let in, with what its route takes, parsed. */
export type Call<R extends Route> = Asked & CallerOf<R> & ParsedOf<R> & ReplyOf<R>;

/** The answer below `data`, or a response of its own if it is not such JSON. */
type Answered<R extends Route> = R extends { readonly answer: infer S extends v.GenericSchema }
  ? v.InferInput<S> | Response
  : Response | undefined;

export type Handler<R extends Route> = (call: Call<R>) => Answered<R> | Promise<Answered<R>>;

/** A handler for each of these routes. */
export type Handlers<C extends Routes> = { readonly [K in keyof C]: Handler<C[K]> };
