/** Limits on webhooks; separate from what enforces them, so that forms and the command line load them quickly. */

export const MAX_WEBHOOKS = 50;
export const MAX_WEBHOOK_URL = 2000;
