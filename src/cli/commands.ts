/** Which commands there are. */

import { group, object, or } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map } from "@optique/core/modifiers";
import { command } from "@optique/core/primitives";
import { adminCommand } from "./commands/administrators/admin.ts";
import { settingCommand } from "./commands/administrators/setting.ts";
import { tokenCommand } from "./commands/administrators/token.ts";
import { webhookCommand } from "./commands/administrators/webhook.ts";
import { agentCommand } from "./commands/agents/agent.ts";
import { accessCommand } from "./commands/audit/access.ts";
import { auditCommand } from "./commands/audit/audit.ts";
import { statsCommand } from "./commands/audit/stats.ts";
import { companyCommand } from "./commands/companies/company.ts";
import { fleetCommand } from "./commands/hosts/fleet.ts";
import { hostCommand } from "./commands/hosts/host.ts";
import { profileCommand } from "./commands/profiles/profile.ts";
import { reviewCommand } from "./commands/reviews/review.ts";
import { backupCommand } from "./commands/service/backup.ts";
import { configCommand } from "./commands/service/config.ts";
import { doctorCommand } from "./commands/service/doctor.ts";
import { healthcheckCommand } from "./commands/service/healthcheck.ts";
import { installCommand, uninstallCommand } from "./commands/service/install.ts";
import { mailCommand } from "./commands/service/mail.ts";
import { migrateCommand } from "./commands/service/migrate.ts";
import { openApiCommand } from "./commands/service/openapi.ts";
import { reconcileCommand } from "./commands/service/reconcile.ts";
import { restoreCommand } from "./commands/service/restore.ts";
import { sudoersCommand } from "./commands/service/sudoers.ts";
import { sweepCommand } from "./commands/service/sweep.ts";
import { versionCommand } from "./commands/service/version.ts";
import { sponsorCommand } from "./commands/sponsors/sponsor.ts";
import { approvalCommand } from "./commands/users/approval.ts";
import { keyCommand } from "./commands/users/key.ts";
import { lockCommand } from "./commands/users/lock.ts";
import { otpCommand } from "./commands/users/otp.ts";
import { recycleCommand } from "./commands/users/recycle.ts";
import { userCommand } from "./commands/users/user.ts";
import { runService } from "./long-running.ts";

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
  "company",
  "review",
  "sponsor",
  "host",
  "fleet",
  "profile",
  "agent",
  "mail",
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
    or(
      userCommand,
      companyCommand,
      reviewCommand,
      sponsorCommand,
      keyCommand,
      approvalCommand,
      auditCommand,
      accessCommand,
      settingCommand,
      statsCommand,
      otpCommand,
      lockCommand,
    ),
  ),
  group(
    "The service",
    or(
      serveCommand,
      // Together, because one or() takes fifteen.
      or(adminCommand, tokenCommand, webhookCommand, mailCommand, hostCommand, fleetCommand, profileCommand),
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
