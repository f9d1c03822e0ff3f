/** Feeds captchas to tesseract and prints how many it reads: `bun test/captcha-ocr.ts [count]`. Exits 1 at 2 in 100 or more. */

import { spawn, spawnSync } from "node:child_process";
import { availableParallelism } from "node:os";
import { renderAsync } from "@resvg/resvg-js";
import {
  CAPTCHA_ALPHABET,
  CAPTCHA_HEIGHT,
  CAPTCHA_LENGTH,
  CAPTCHA_WIDTH,
  drawCaptcha,
} from "../src/domain/auth/codes/captcha-image.ts";

const ALLOWED = 0.02;
/** 6 a block, 7 a line, 8 a word, 11 sparse text, 13 a raw line. */
const MODES = ["6", "7", "8", "11", "13"];
const ENLARGED = 3;

process.exitCode = await main(Number(process.argv[2] ?? 200));

async function main(count: number): Promise<number> {
  if (spawnSync("tesseract", ["--version"]).error) {
    console.error("tesseract is not installed; on Debian: apt install tesseract-ocr");
    return 2;
  }
  let next = 0;
  let read = 0;
  let characters = 0;
  const worker = async (): Promise<void> => {
    while (next++ < count) {
      const { answer, png } = await drawCaptcha();
      const attempts = await Promise.all([guesses(png), guesses(await enlarge(png))]);
      const best = Math.max(...attempts.flat().map((guess) => matching(guess, answer)));
      characters += best;
      if (best === answer.length) read++;
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
  const share = ((100 * characters) / (count * CAPTCHA_LENGTH)).toFixed(1);
  console.log(
    `tesseract read ${read} of ${count} captchas in full (best of ${MODES.length} page segmentation modes, ` +
      `at the size sent and ${ENLARGED} times enlarged, told the alphabet); ${share} % of the characters are in place`,
  );
  return read / count < ALLOWED ? 0 : 1;
}

function guesses(png: Uint8Array): Promise<string[]> {
  return Promise.all(MODES.map((mode) => recognise(png, mode)));
}

function recognise(png: Uint8Array, mode: string): Promise<string> {
  const whitelist = `tessedit_char_whitelist=${CAPTCHA_ALPHABET}${CAPTCHA_ALPHABET.toLowerCase()}`;
  const child = spawn("tesseract", ["-", "-", "--psm", mode, "-c", whitelist], {
    stdio: ["pipe", "pipe", "ignore"],
    env: { ...process.env, OMP_THREAD_LIMIT: "1" },
  });
  child.stdin.end(png);
  return new Promise((resolve, reject) => {
    let text = "";
    child.stdout.setEncoding("utf8").on("data", (part: string) => {
      text += part;
    });
    child.on("error", reject);
    child.on("close", () => resolve(text.replace(/\s/g, "").toUpperCase()));
  });
}

/** Larger and grey, as whoever attacks this would prepare it. */
async function enlarge(png: Uint8Array): Promise<Uint8Array> {
  const [width, height] = [CAPTCHA_WIDTH * ENLARGED, CAPTCHA_HEIGHT * ENLARGED];
  const data = Buffer.from(png).toString("base64");
  const svg =
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">` +
    `<filter id="grey"><feColorMatrix type="saturate" values="0"/></filter>` +
    `<image filter="url(#grey)" width="${width}" height="${height}" href="data:image/png;base64,${data}"/></svg>`;
  return (await renderAsync(svg, { font: { loadSystemFonts: false } })).asPng();
}

/** How many characters of the answer stand in their places. */
function matching(guess: string, answer: string): number {
  return guess.length === answer.length
    ? [...answer].filter((character, index) => guess[index] === character).length
    : 0;
}
