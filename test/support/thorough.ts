/** True in CI, which tries more cases and slow ones; a developer's run should take at most a minute and a half. */
export const isThorough = process.env.UAM_TEST_HOST === "1";
