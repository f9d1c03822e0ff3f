import { describe, expect, test } from "bun:test";
import { setImmediate } from "node:timers/promises";
import { createGate, createSlots } from "../../../src/shared/work/bounded.ts";

describe("createGate", () => {
  test("createGate() never runs more than it may, and keeps the order", async () => {
    const gate = createGate({ concurrency: 2, maxQueue: 100, retryAfter: 1 });
    let running = 0;
    let most = 0;
    const order: number[] = [];
    const task = (number: number) => async () => {
      order.push(number);
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 1));
      running--;
      return number;
    };
    const all = Array.from({ length: 20 }, (_, index) => index);
    expect(await Promise.all(all.map((index) => gate(task(index))))).toEqual(all);
    expect(most).toBe(2);
    expect(order).toEqual(all);
  });

  test("createGate() frees the place of a task that fails, even one that throws before it awaits", async () => {
    const gate = createGate({ concurrency: 1, maxQueue: 1, retryAfter: 1 });
    const fails = (): Promise<never> => {
      throw new Error("at once");
    };
    await expect(gate(fails)).rejects.toThrow("at once");
    await expect(gate(async () => Promise.reject(new Error("later")))).rejects.toThrow("later");
    expect(await gate(async () => "free")).toBe("free");
  });

  test("createGate() refuses with limited when concurrency and queue are full", async () => {
    const gate = createGate({ concurrency: 1, maxQueue: 1, retryAfter: 3 });
    const never = new Promise<void>(() => {});
    void gate(() => never);
    void gate(() => never);
    await expect(gate(async () => 1)).rejects.toMatchObject({ code: "limited", retryAfter: 3 });
  });
});

describe("createSlots", () => {
  test("take() gives as many slots as there are, refuses with the sentence, and has one again once one is freed", async () => {
    const slots = createSlots({ concurrency: 2, retryAfter: 30, refusal: "Two run already" });
    const first = slots.take();
    slots.take();
    const refused = () => slots.take();
    expect(refused).toThrow("Two run already");
    expect(refused).toThrow(expect.objectContaining({ code: "limited", retryAfter: 30 }));
    for (let times = 0; times < 3; times++) first();
    await setImmediate();
    slots.take();
    expect(refused).toThrow("Two run already");
  });
});
