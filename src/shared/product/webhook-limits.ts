/** Limits on webhooks; in a file of their own, so that forms and the command line load them quickly. */

export const MAX_WEBHOOKS = 50;
export const MAX_WEBHOOK_URL = 2000;
