/** Draws captchas: distorted text as a PNG. The vector form, which a program could read, never leaves the process. */

import { randomBytes, randomInt } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { renderAsync } from "@resvg/resvg-js";
import { type Font, parse } from "opentype.js";
// The package's own entry reads its font from node_modules when it is loaded, and a compiled program has none.
import charToPath from "svg-captcha/lib/ch-to-path.js";
import { createGate } from "../../../shared/work/bounded.ts";

/**
 * Letters of this font that stay distinguishable when turned, bent and struck through, as seen in pictures; no digits, because they look like letters.
 */
export const CAPTCHA_ALPHABET = "ACEHLMPUWX";
export const CAPTCHA_LENGTH = 5;
/** Pixels. */
export const CAPTCHA_WIDTH = 480;
export const CAPTCHA_HEIGHT = 150;

export interface CaptchaImage {
  /** `CAPTCHA_LENGTH` characters of `CAPTCHA_ALPHABET`, each chosen by the system's secure random source. */
  readonly answer: string;
  /** `CAPTCHA_WIDTH` by `CAPTCHA_HEIGHT`, about 13 kB. */
  readonly png: Uint8Array;
}

type Point = readonly [x: number, y: number];
type Bend = (point: Point) => Point;

const MARGIN = 20;
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

/**
 * Dark letters on a light card, so that the picture reads the same on a light and on a dark page. Two bands swap the colours: no
 * threshold leaves all letters dark on light, which OCR needs. The band edges run between letters, not through them.
 */
function drawing(answer: string, font: Font): string {
  const hue = randomInt(360);
  const dark = `hsl(${hue},${randomInt(45, 75)}%,${randomInt(18, 26)}%)`;
  const light = `hsl(${hue + randomInt(150, 210)},55%,${randomInt(90, 95)}%)`;
  const bend = randomBend();
  const { path, gaps } = text(answer, font, bend);
  const lines = `${strike()}${strike()}`;
  const layer = (ink: string, paper: string): string =>
    `<rect width="100%" height="100%" fill="${paper}"/>` +
    `<path d="${path}" fill="${ink}" stroke="${ink}" stroke-width="5"/>` +
    `<path d="${lines}" fill="none" stroke="${ink}" stroke-width="2" stroke-opacity="0.6"/>`;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${CAPTCHA_WIDTH}" height="${CAPTCHA_HEIGHT}">` +
    `<clipPath id="bands"><path d="${bands(gaps, bend)}"/></clipPath>` +
    `${layer(dark, light)}<g clip-path="url(#bands)">${layer(light, dark)}</g></svg>`
  );
}

interface Text {
  readonly path: string;
  /**
   * The positions of the gaps before, between and after the letters, before bending; one more than there are letters.
   */
  readonly gaps: readonly number[];
}

/** The letters side by side, each turned, sheared and shifted, then all bent together. */
function text(answer: string, font: Font, bend: Bend): Text {
  const glyphs = [...answer].map((character) => {
    const path = turned(letterBody(glyph(character, font)));
    const across = pointsOf(path).map(([x]) => x);
    const left = Math.min(...across);
    return { path, left, width: Math.max(...across) - left };
  });
  const free = CAPTCHA_WIDTH - 2 * MARGIN - glyphs.reduce((sum, { width }) => sum + width, 0);
  const gap = free / glyphs.length;
  const gaps = [MARGIN];
  const paths = glyphs.map(({ path, left, width }) => {
    const edge = gaps.at(-1) ?? MARGIN;
    gaps.push(edge + width + gap);
    const dx = edge + gap / 2 - left;
    const dy = CAPTCHA_HEIGHT / 2 + between(-14, 14);
    return mapPath(path, ([x, y]) => bend([x + dx, y + dy]));
  });
  return { path: paths.join(""), gaps };
}

function glyph(character: string, font: Font): string {
  const { ascender, descender } = font;
  return charToPath(character, { font, fontSize: between(130, 142), ascender, descender, x: 0, y: 0 });
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
  const shear = between(-0.15, 0.15);
  return mapPath(path, ([x, y]) => [(x + shear * y) * cos - y * sin, (x + shear * y) * sin + y * cos]);
}

/** Bent bands from top to bottom behind two letters that are not neighbours. */
function bands(gaps: readonly number[], bend: Bend): string {
  const last = gaps.length - 2;
  const first = randomInt(last - 1);
  const second = randomInt(first + 2, last + 1);
  return [first, second].map((letter) => band(gaps[letter] ?? 0, gaps[letter + 1] ?? 0, bend)).join("");
}

function band(left: number, right: number, bend: Bend): string {
  const edge = (at: number): readonly string[] => {
    const tilt = between(-12, 12);
    const bulge = between(-8, 8);
    return [
      `${at + tilt} -20`,
      `${at + bulge} ${CAPTCHA_HEIGHT / 3}`,
      `${at - bulge} ${(2 * CAPTCHA_HEIGHT) / 3}`,
      `${at - tilt} ${CAPTCHA_HEIGHT + 20}`,
    ];
  };
  const [a, b, c, d] = edge(left);
  const [e, f, g, h] = edge(right);
  return mapPath(`M${a}C${b} ${c} ${d}L${h}C${g} ${f} ${e}Z`, bend);
}

/** A thin curve across the whole width. */
function strike(): string {
  const [a, b, c, d] = [level(), level(), level(), level()];
  return `M-5 ${a}C${between(0.2, 0.4) * CAPTCHA_WIDTH} ${b} ${between(0.6, 0.8) * CAPTCHA_WIDTH} ${c} ${CAPTCHA_WIDTH + 5} ${d}`;
}

function level(): number {
  return between(18, CAPTCHA_HEIGHT - 18);
}

function randomBend(): Bend {
  const across = wave(between(2, 4), between(45, 75));
  const down = wave(between(3, 7), between(90, 165));
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
