/** When a service that was busy gives back the memory that only the load needed. */

import { SECOND } from "../shared/time/clock.ts";
import type { Runtime } from "./runtime.ts";

/** Milliseconds from one check to the next: memory is given back within twice as long after the load. */
const CHECK = 20 * SECOND;
/** Requests between two checks that are no load: health checks, metrics, agents that ask for news. */
const FEW = 100;
/** Requests that leave something worth giving back. */
const MANY = 1000;

interface Rest {
  /** Counts a request. */
  note(): void;
  /** Releases if there was load and it is over; also once after the start, which needs memory that serving does not. */
  check(): void;
}

/** `release` costs some 20 ms, and the next requests what they had compiled: so it is called once for each time of load. */
export function createRest(release: () => void): Rest {
  let recent = 0;
  let since = MANY;
  return {
    note() {
      recent++;
    },
    check() {
      since += recent;
      if (recent <= FEW && since >= MANY) {
        release();
        since = 0;
      }
      recent = 0;
    },
  };
}

/** The runtime, whose servers give back what they took for a load that is over, and for the start. */
export function resting(runtime: Runtime): Runtime {
  const { release } = runtime;
  if (release === undefined) return runtime;
  return {
    ...runtime,
    async serve(options) {
      const rest = createRest(release);
      const server = await runtime.serve({
        ...options,
        fetch: (request, peer, hold) => {
          rest.note();
          return options.fetch(request, peer, hold);
        },
      });
      const timer = setInterval(rest.check, CHECK);
      return {
        ...server,
        stop: async (milliseconds) => {
          clearInterval(timer);
          await server.stop(milliseconds);
        },
      };
    },
  };
}
