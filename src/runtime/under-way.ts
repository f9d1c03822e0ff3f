/** Requests under way, counted by the service itself: no runtime waits for a request whose client has gone. */

import type { RunningServer, Runtime, ServeOptions } from "./runtime.ts";

/**
 * Serves as the runtime does, but `stop` also waits, within its time limit, until the handler of every request is done, whether
 * or not a client still waits for the answer: what a request changes is then both stored and on the host, or neither.
 */
export async function serveWhole(runtime: Runtime, options: ServeOptions): Promise<RunningServer> {
  const underWay = new Set<Promise<unknown>>();
  const server = await runtime.serve({
    ...options,
    fetch: (request, peer, hold) => {
      const answer = options.fetch(request, peer, hold);
      underWay.add(answer);
      const end = () => void underWay.delete(answer);
      answer.then(end, end);
      return answer;
    },
  });
  return {
    ...server,
    stop: async (milliseconds) => {
      const patience = Promise.withResolvers<void>();
      // A timer left running would prevent the process from ending.
      const timer = setTimeout(patience.resolve, milliseconds);
      await server.stop(milliseconds);
      await Promise.race([Promise.allSettled(underWay), patience.promise]);
      clearTimeout(timer);
    },
  };
}
