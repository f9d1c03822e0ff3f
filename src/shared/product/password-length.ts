/** How long a password may be, in characters as people count them (Unicode code points, in NFC). */

export const PASSWORD_MIN = 15;
export const PASSWORD_MAX = 256;
