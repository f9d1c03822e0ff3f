/** English: what the pages of an administrator say. */

export const adminTexts = {};
