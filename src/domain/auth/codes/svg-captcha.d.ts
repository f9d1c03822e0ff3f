/** The parts of svg-captcha 1.4.0, and of the opentype.js 0.7.3 under it, that are used; neither has types for these entry points. */

declare module "svg-captcha/lib/ch-to-path.js" {
  import type { Font } from "opentype.js";

  interface GlyphOptions {
    readonly font: Font;
    readonly fontSize: number;
    readonly ascender: number;
    readonly descender: number;
    /** Where the middle of the glyph goes. */
    readonly x: number;
    readonly y: number;
  }

  /** SVG path data (absolute `M L Q C Z`) of the first character of `text`, its points jittered by up to 0.1. */
  export default function charToPath(text: string, options: GlyphOptions): string;
}

declare module "svg-captcha/fonts/Comismsh.ttf" {
  const path: string;
  export default path;
}

declare module "opentype.js" {
  export interface Font {
    readonly ascender: number;
    readonly descender: number;
  }

  /** Reads a TrueType font; throws on anything else. */
  export function parse(font: ArrayBuffer): Font;
}
