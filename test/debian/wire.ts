/** A network of two containers: a cable between them, which can be cut. */

import type { Container } from "./container.ts";
import { must } from "./shell.ts";

/** Addresses of the one and the other end. */
export const ADDRESSES = ["10.77.0.1", "10.77.0.2"] as const;
const DEVICE = "wire";

export interface Wire {
  /** From then on nothing arrives, and nobody is told. */
  cut(): Promise<void>;
  mend(): Promise<void>;
}

/** Connects two containers; the wire goes with either of them. */
export async function connect(one: Container, other: Container): Promise<Wire> {
  const end = (container: Container) => ["name", DEVICE, "netns", String(container.leader)];
  await must(["ip", "link", "add", ...end(one), "type", "veth", "peer", ...end(other)], 10);
  const ends = [one, other] as const;
  for (const [index, container] of ends.entries()) {
    await container.sh(`ip address add ${ADDRESSES[index]}/24 dev ${DEVICE} && ip link set ${DEVICE} up`);
  }
  return {
    // What is sent is lost, as with a cable that is pulled out of a switch between them: both ends still have their link.
    cut: async () => {
      await one.sh(`ip route add blackhole ${ADDRESSES[1]}/32 && ip neigh flush dev ${DEVICE}`);
    },
    mend: async () => {
      await one.sh(`ip route del blackhole ${ADDRESSES[1]}/32`);
    },
  };
}
