/** The migrations in drizzle/, carried in the program as text; the order is the order they are applied in. */

import initial from "../../drizzle/0000_initial.sql" with { type: "text" };
import auditSeal from "../../drizzle/0001_audit_seal.sql" with { type: "text" };
import auditProtect from "../../drizzle/0002_audit_protect.sql" with { type: "text" };
import accountIntents from "../../drizzle/0003_account_intents.sql" with { type: "text" };
import auditSeries from "../../drizzle/0004_audit_series.sql" with { type: "text" };
import closingsAndAccounts from "../../drizzle/0005_closings_and_accounts.sql" with { type: "text" };
import carryAccounts from "../../drizzle/0006_carry_accounts.sql" with { type: "text" };
import accountsHaveUids from "../../drizzle/0007_accounts_have_uids.sql" with { type: "text" };
import userMailTimes from "../../drizzle/0008_user_mail_times.sql" with { type: "text" };
import limitsAndApplications from "../../drizzle/0009_limits_and_applications.sql" with { type: "text" };
import state from "../../drizzle/0010_state.sql" with { type: "text" };
import auditFloor from "../../drizzle/0011_audit_floor.sql" with { type: "text" };
import dropCounters from "../../drizzle/0012_drop_counters.sql" with { type: "text" };
import adminRoles from "../../drizzle/0013_admin_roles.sql" with { type: "text" };
import requestsForTime from "../../drizzle/0014_requests_for_time.sql" with { type: "text" };
import keyUse from "../../drizzle/0015_key_use.sql" with { type: "text" };
import dailyCounts from "../../drizzle/0016_daily_counts.sql" with { type: "text" };
import tokens from "../../drizzle/0017_tokens.sql" with { type: "text" };
import sourceNetworks from "../../drizzle/0018_source_networks.sql" with { type: "text" };
import auditNotify from "../../drizzle/0019_audit_notify.sql" with { type: "text" };
import singleSignOn from "../../drizzle/0020_single_sign_on.sql" with { type: "text" };
import passkeys from "../../drizzle/0021_passkeys.sql" with { type: "text" };
import webhooksAndStream from "../../drizzle/0022_webhooks_and_stream.sql" with { type: "text" };
import fleet from "../../drizzle/0023_fleet.sql" with { type: "text" };
import localHost from "../../drizzle/0024_local_host.sql" with { type: "text" };
import writePaths from "../../drizzle/0025_write_paths.sql" with { type: "text" };
import auditGuard from "../../drizzle/0026_audit_guard.sql" with { type: "text" };
import textParts from "../../drizzle/0027_text_parts.sql" with { type: "text" };
import auditHashesAndSearch from "../../drizzle/0028_audit_hashes_and_search.sql" with { type: "text" };
import auditHashLookups from "../../drizzle/0029_audit_hash_lookups.sql" with { type: "text" };
import repairs from "../../drizzle/0030_repairs.sql" with { type: "text" };
import userCountsIndex from "../../drizzle/0031_user_counts_index.sql" with { type: "text" };
import auditPageLookups from "../../drizzle/0032_audit_page_lookups.sql" with { type: "text" };
import givenUids from "../../drizzle/0033_given_uids.sql" with { type: "text" };
import madeBy from "../../drizzle/0034_made_by.sql" with { type: "text" };
import origins from "../../drizzle/0035_origins.sql" with { type: "text" };
import wordsOnRecord from "../../drizzle/0036_words_on_record.sql" with { type: "text" };
import seenAt from "../../drizzle/0037_seen_at.sql" with { type: "text" };
import failedMail from "../../drizzle/0038_failed_mail.sql" with { type: "text" };
import shortenings from "../../drizzle/0039_shortenings.sql" with { type: "text" };
import welcomePending from "../../drizzle/0040_welcome_pending.sql" with { type: "text" };
import companies from "../../drizzle/0041_companies.sql" with { type: "text" };
import companyChanges from "../../drizzle/0042_company_changes.sql" with { type: "text" };
import reviews from "../../drizzle/0043_reviews.sql" with { type: "text" };
import sponsors from "../../drizzle/0044_sponsors.sql" with { type: "text" };
import terms from "../../drizzle/0045_terms.sql" with { type: "text" };
import hours from "../../drizzle/0046_hours.sql" with { type: "text" };
import foundKeys from "../../drizzle/0047_found_keys.sql" with { type: "text" };
import hoursEnd from "../../drizzle/0048_hours_end.sql" with { type: "text" };
import groupHours from "../../drizzle/0049_group_hours.sql" with { type: "text" };
import accessOnRequest from "../../drizzle/0050_access_on_request.sql" with { type: "text" };
import searchFullNames from "../../drizzle/0051_search_full_names.sql" with { type: "text" };
import ownHostHours from "../../drizzle/0052_own_host_hours.sql" with { type: "text" };
import profiles from "../../drizzle/0053_profiles.sql" with { type: "text" };
import askedHosts from "../../drizzle/0054_asked_hosts.sql" with { type: "text" };
import windowSessions from "../../drizzle/0055_window_sessions.sql" with { type: "text" };
import closingReview from "../../drizzle/0056_closing_review.sql" with { type: "text" };
import auditFailed from "../../drizzle/0057_audit_failed.sql" with { type: "text" };
import attestation from "../../drizzle/0058_attestation.sql" with { type: "text" };

export interface Migration {
  readonly name: string;
  readonly sql: string;
}

export const MIGRATIONS: readonly Migration[] = [
  { name: "0000_initial", sql: initial },
  { name: "0001_audit_seal", sql: auditSeal },
  { name: "0002_audit_protect", sql: auditProtect },
  { name: "0003_account_intents", sql: accountIntents },
  { name: "0004_audit_series", sql: auditSeries },
  { name: "0005_closings_and_accounts", sql: closingsAndAccounts },
  { name: "0006_carry_accounts", sql: carryAccounts },
  { name: "0007_accounts_have_uids", sql: accountsHaveUids },
  { name: "0008_user_mail_times", sql: userMailTimes },
  { name: "0009_limits_and_applications", sql: limitsAndApplications },
  { name: "0010_state", sql: state },
  { name: "0011_audit_floor", sql: auditFloor },
  { name: "0012_drop_counters", sql: dropCounters },
  { name: "0013_admin_roles", sql: adminRoles },
  { name: "0014_requests_for_time", sql: requestsForTime },
  { name: "0015_key_use", sql: keyUse },
  { name: "0016_daily_counts", sql: dailyCounts },
  { name: "0017_tokens", sql: tokens },
  { name: "0018_source_networks", sql: sourceNetworks },
  { name: "0019_audit_notify", sql: auditNotify },
  { name: "0020_single_sign_on", sql: singleSignOn },
  { name: "0021_passkeys", sql: passkeys },
  { name: "0022_webhooks_and_stream", sql: webhooksAndStream },
  { name: "0023_fleet", sql: fleet },
  { name: "0024_local_host", sql: localHost },
  { name: "0025_write_paths", sql: writePaths },
  { name: "0026_audit_guard", sql: auditGuard },
  { name: "0027_text_parts", sql: textParts },
  { name: "0028_audit_hashes_and_search", sql: auditHashesAndSearch },
  { name: "0029_audit_hash_lookups", sql: auditHashLookups },
  { name: "0030_repairs", sql: repairs },
  { name: "0031_user_counts_index", sql: userCountsIndex },
  { name: "0032_audit_page_lookups", sql: auditPageLookups },
  { name: "0033_given_uids", sql: givenUids },
  { name: "0034_made_by", sql: madeBy },
  { name: "0035_origins", sql: origins },
  { name: "0036_words_on_record", sql: wordsOnRecord },
  { name: "0037_seen_at", sql: seenAt },
  { name: "0038_failed_mail", sql: failedMail },
  { name: "0039_shortenings", sql: shortenings },
  { name: "0040_welcome_pending", sql: welcomePending },
  { name: "0041_companies", sql: companies },
  { name: "0042_company_changes", sql: companyChanges },
  { name: "0043_reviews", sql: reviews },
  { name: "0044_sponsors", sql: sponsors },
  { name: "0045_terms", sql: terms },
  { name: "0046_hours", sql: hours },
  { name: "0047_found_keys", sql: foundKeys },
  { name: "0048_hours_end", sql: hoursEnd },
  { name: "0049_group_hours", sql: groupHours },
  { name: "0050_access_on_request", sql: accessOnRequest },
  { name: "0051_search_full_names", sql: searchFullNames },
  { name: "0052_own_host_hours", sql: ownHostHours },
  { name: "0053_profiles", sql: profiles },
  { name: "0054_asked_hosts", sql: askedHosts },
  { name: "0055_window_sessions", sql: windowSessions },
  { name: "0056_closing_review", sql: closingReview },
  { name: "0057_audit_failed", sql: auditFailed },
  { name: "0058_attestation", sql: attestation },
];
