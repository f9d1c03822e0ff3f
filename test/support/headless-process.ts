/** Becomes the user whose uid is the argument, and ends only its first thread. Run by survivors.ts. */

import { dlopen } from "bun:ffi";
import { writeSync } from "node:fs";
import process from "node:process";

const SYS_EXIT = process.arch === "x64" ? 60 : 93;
const uid = Number(process.argv[2]);
const { symbols: libc } = dlopen("libc.so.6", {
  setgid: { args: ["u32"], returns: "i32" },
  setuid: { args: ["u32"], returns: "i32" },
  syscall: { args: ["i64", "i64"], returns: "i64" },
});
// A thread that keeps running; it has started once it answers.
const thread = new Worker(URL.createObjectURL(new Blob(["setInterval(() => postMessage(0), 100);"])));
await new Promise((resolve) => thread.addEventListener("message", resolve, { once: true }));
if (libc.setgid(uid) !== 0 || libc.setuid(uid) !== 0) throw new Error(`cannot become ${uid}`);
writeSync(1, "begun\n");
libc.syscall(SYS_EXIT, 0);
