/** Which commands there are. */

import { group, object, or } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map } from "@optique/core/modifiers";
import { command } from "@optique/core/primitives";
import { adminCommand } from "./admin.ts";
import { agentCommand } from "./agent.ts";
import { approvalCommand } from "./approval.ts";
import { auditCommand } from "./audit.ts";
import { backupCommand } from "./backup.ts";
import { configCommand } from "./config.ts";
import { doctorCommand } from "./doctor.ts";
import { fleetCommand } from "./fleet.ts";
import { healthcheckCommand } from "./healthcheck.ts";
import { hostCommand } from "./host.ts";
import { installCommand, uninstallCommand } from "./install.ts";
import { keyCommand } from "./key.ts";
import { lockCommand } from "./lock.ts";
import { migrateCommand } from "./migrate.ts";
import { openApiCommand } from "./openapi.ts";
import { otpCommand } from "./otp.ts";
import { reconcileCommand } from "./reconcile.ts";
import { recycleCommand } from "./recycle.ts";
import { runService } from "./resident.ts";
import { restoreCommand } from "./restore.ts";
import { settingCommand } from "./setting.ts";
import { statsCommand } from "./stats.ts";
import { sudoersCommand } from "./sudoers.ts";
import { sweepCommand } from "./sweep.ts";
import { tokenCommand } from "./token.ts";
import { userCommand } from "./user.ts";
import { versionCommand } from "./version.ts";
import { webhookCommand } from "./webhook.ts";

/** Commands that do nothing without a command of their own. */
export const GROUPS: ReadonlySet<string> = new Set([
  "user",
  "key",
  "approval",
  "audit",
  "setting",
  "admin",
  "token",
  "webhook",
  "host",
  "fleet",
  "agent",
]);

const serveCommand = command(
  "serve",
  map(object({}), () => runService),
  {
    brief: message`Run the service.`,
    description: message`Brings the database up to date, repairs what differs on the host, and serves until SIGTERM. It is configured by environment variables:`,
  },
);

/** The parser of the whole command line; it yields the command, ready to run. */
export const commands = or(
  group(
    "Daily work",
    or(userCommand, keyCommand, approvalCommand, auditCommand, settingCommand, statsCommand, otpCommand, lockCommand),
  ),
  group(
    "The service",
    or(
      serveCommand,
      // Together, because one or() takes fifteen.
      or(adminCommand, tokenCommand, webhookCommand, hostCommand, fleetCommand),
      reconcileCommand,
      recycleCommand,
      migrateCommand,
      backupCommand,
      restoreCommand,
      configCommand,
      healthcheckCommand,
      doctorCommand,
      agentCommand,
      or(installCommand, uninstallCommand),
      sudoersCommand,
      openApiCommand,
      versionCommand,
    ),
  ),
  sweepCommand,
);
