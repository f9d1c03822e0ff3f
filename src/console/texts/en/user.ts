/** English: what the pages of an external user say. */

export const userTexts = {};
