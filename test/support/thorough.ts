/** True in CI, which tries more of the same, and what takes long; a developer's run is to be over in a minute and a half. */
export const isThorough = process.env.UAM_TEST_HOST === "1";
