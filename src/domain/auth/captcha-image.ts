/** Draws captchas: distorted text as a PNG. The vector form, which a program could read, never leaves the process. */

import { randomBytes, randomInt } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { renderAsync } from "@resvg/resvg-js";
import { type Font, parse } from "opentype.js";
// The package's own entry reads its font from node_modules when it is loaded, and a compiled program has none.
import charToPath from "svg-captcha/lib/ch-to-path.js";
import { createGate } from "../../shared/bounded.ts";

/** Characters that can be told apart when bent, cut and struck through; few vowels, so that they seldom make words. */
export const CAPTCHA_ALPHABET = "ACEHKMPU37";
export const CAPTCHA_LENGTH = 5;
/** Pixels. */
export const CAPTCHA_WIDTH = 400;
export const CAPTCHA_HEIGHT = 130;

export interface CaptchaImage {
  /** `CAPTCHA_LENGTH` characters of `CAPTCHA_ALPHABET`, each chosen by the system's secure random source. */
  readonly answer: string;
  /** `CAPTCHA_WIDTH` by `CAPTCHA_HEIGHT`, about 12 kB. */
  readonly png: Uint8Array;
}

type Point = readonly [x: number, y: number];
type Bend = (point: Point) => Point;

const MARGIN = 14;
const gate = createGate({ concurrency: 1, maxQueue: 200, retryAfter: 2 });
let font: Promise<Font> | undefined;

/**
 * A new captcha: about 1 ms on this thread and 2 ms on another. One is drawn at a time; throws `limited` when 200 wait.
 */
export function drawCaptcha(): Promise<CaptchaImage> {
  return gate(async () => {
    font ??= loadFont();
    const answer = Array.from(
      { length: CAPTCHA_LENGTH },
      () => CAPTCHA_ALPHABET[randomInt(CAPTCHA_ALPHABET.length)],
    ).join("");
    const image = await renderAsync(drawing(answer, await font), { font: { loadSystemFonts: false }, logLevel: "off" });
    return { answer, png: image.asPng() };
  });
}

/** Two colours, exchanged inside two bands: no threshold leaves all letters dark on light, which is what OCR needs. */
function drawing(answer: string, font: Font): string {
  const hue = randomInt(360);
  const dark = `hsl(${hue},${randomInt(40, 70)}%,${randomInt(24, 34)}%)`;
  const light = `hsl(${hue + randomInt(150, 210)},60%,${randomInt(84, 92)}%)`;
  const bend = randomBend();
  const text = textPath(answer, font, bend);
  const lines = `${strike()}${strike()}`;
  const layer = (ink: string, paper: string): string =>
    `<rect width="100%" height="100%" fill="${paper}"/>` +
    `<path d="${text}" fill="${ink}" stroke="${ink}" stroke-width="3.6"/>` +
    `<path d="${lines}" fill="none" stroke="${ink}" stroke-width="1.8"/>`;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${CAPTCHA_WIDTH}" height="${CAPTCHA_HEIGHT}">` +
    `<clipPath id="bands"><path d="${band(0, bend)}${band(1, bend)}"/></clipPath>` +
    `${layer(dark, light)}<g clip-path="url(#bands)">${layer(light, dark)}</g></svg>`
  );
}

/** The letters side by side, each turned, sheared and shifted, then all bent together. */
function textPath(answer: string, font: Font, bend: Bend): string {
  const glyphs = [...answer].map((character) => {
    const path = turned(letterBody(glyph(character, font)));
    const across = pointsOf(path).map(([x]) => x);
    const left = Math.min(...across);
    return { path, left, width: Math.max(...across) - left };
  });
  const free = CAPTCHA_WIDTH - 2 * MARGIN - glyphs.reduce((sum, { width }) => sum + width, 0);
  const gap = free / glyphs.length;
  let edge = MARGIN + gap / 2;
  return glyphs
    .map(({ path, left, width }) => {
      const dx = edge - left + between(-4, 4);
      const dy = CAPTCHA_HEIGHT / 2 + between(-9, 9);
      edge += width + gap;
      return mapPath(path, ([x, y]) => bend([x + dx, y + dy]));
    })
    .join("");
}

function glyph(character: string, font: Font): string {
  const { ascender, descender } = font;
  return charToPath(character, { font, fontSize: between(112, 126), ascender, descender, x: 0, y: 0 });
}

/** The font draws outlined letters with a shadow: the largest hole is the letter, the smaller islands are its counters. */
function letterBody(path: string): string {
  const contours = path
    .split("Z")
    .filter((contour) => contour !== "")
    .map((contour) => ({ contour: `${contour}Z`, area: signedArea(contour) }))
    .sort((a, b) => a.area - b.area);
  const body = contours.at(-1);
  const counters = contours.slice(1).filter(({ area }) => area < 0);
  return [body, ...counters].map((part) => part?.contour ?? "").join("");
}

function signedArea(path: string): number {
  const points = pointsOf(path);
  return points.reduce((sum, [x, y], index) => {
    const [nextX, nextY] = points[(index + 1) % points.length] ?? [x, y];
    return sum + (x * nextY - nextX * y) / 2;
  }, 0);
}

function turned(path: string): string {
  const angle = between(-0.28, 0.28);
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  const shear = between(-0.2, 0.2);
  return mapPath(path, ([x, y]) => [(x + shear * y) * cos - y * sin, (x + shear * y) * sin + y * cos]);
}

/** A bent band across the picture from top to bottom, somewhere in the left or right half. */
function band(half: 0 | 1, bend: Bend): string {
  const height = CAPTCHA_HEIGHT;
  const top = (CAPTCHA_WIDTH / 2) * (half + between(0.1, 0.5));
  const bottom = top + between(-40, 40);
  const width = between(44, 70);
  const bulge = between(-25, 25);
  return mapPath(
    `M${top} -20C${top + bulge} ${height / 3} ${bottom - bulge} ${(2 * height) / 3} ${bottom} ${height + 20}` +
      `L${bottom + width} ${height + 20}C${bottom + width + bulge} ${(2 * height) / 3} ` +
      `${top + width - bulge} ${height / 3} ${top + width} -20Z`,
    bend,
  );
}

/** A thin curve across the whole width. */
function strike(): string {
  const [a, b, c, d] = [level(), level(), level(), level()];
  return `M-5 ${a}C${between(0.2, 0.4) * CAPTCHA_WIDTH} ${b} ${between(0.6, 0.8) * CAPTCHA_WIDTH} ${c} ${CAPTCHA_WIDTH + 5} ${d}`;
}

function level(): number {
  return between(12, CAPTCHA_HEIGHT - 12);
}

function randomBend(): Bend {
  const across = wave(between(2, 4), between(30, 50));
  const down = wave(between(2, 5), between(60, 110));
  return ([x, y]) => [x + across(y), y + down(x)];
}

function wave(height: number, length: number): (at: number) => number {
  const phase = between(0, 2 * Math.PI);
  return (at) => height * Math.sin((2 * Math.PI * at) / length + phase);
}

const PAIR = /(-?\d+(?:\.\d+)?) ?(-?\d+(?:\.\d+)?)/g;

function pointsOf(path: string): readonly Point[] {
  return Array.from(path.matchAll(PAIR), ([, x, y]) => [Number(x), Number(y)]);
}

/** The path with all its points moved; it must be absolute, with `M L Q C Z` only. */
function mapPath(path: string, move: Bend): string {
  return path.replace(PAIR, (_pair, x: string, y: string) => {
    const [movedX, movedY] = move([Number(x), Number(y)]);
    return `${movedX.toFixed(2)} ${movedY.toFixed(2)} `;
  });
}

function between(low: number, high: number): number {
  return low + (randomBytes(4).readUInt32LE() / 2 ** 32) * (high - low);
}

/** Bun carries the font inside a compiled program; where `file` imports are unknown (Deno) the package is on disk. */
async function loadFont(): Promise<Font> {
  const file = await import("svg-captcha/fonts/Comismsh.ttf", { with: { type: "file" } }).then(
    (module) => module.default,
    () => createRequire(import.meta.url).resolve("svg-captcha/fonts/Comismsh.ttf"),
  );
  return parse(new Uint8Array(readFileSync(file)).buffer);
}
