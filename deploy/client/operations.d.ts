// Generated from the OpenAPI document by `bun run docs`.

export interface Operations {
  /** Accept the terms of use. */
  acceptTerms: {
    route: "POST /me/terms";
    input: { body: { version: string } };
    answer: { version: string; pending: boolean; accepted_at: string | null };
    reason: "audit.unrecorded" | "database.full" | "internal" | "rate.changes" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "terms.changed" | "terms.none" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong" | "user.missing" | "user.not_active";
  };
  /** Set up an authenticator app. */
  addAuthenticatorApp: {
    route: "POST /auth/totp";
    input: { body: { ticket: string; code: string } };
    answer: { added: boolean; created_at: string | null; last_used_at: string | null };
    reason: "audit.unrecorded" | "database.full" | "internal" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.not_allowed" | "token.revoked" | "token.wrong" | "totp.expired" | "totp.taken" | "totp.wrong";
  };
  /** Add a passkey. */
  addPasskey: {
    route: "POST /auth/passkeys";
    input: { body: { name: string; passkey: { id: string; rawId: string; type: "public-key"; response: { clientDataJSON: string; attestationObject: string; transports?: (string)[] } } } };
    answer: { id: number; name: string; backed_up: boolean; created_at: string; last_used_at: string | null };
    reason: "audit.unrecorded" | "database.full" | "internal" | "passkey.invalid" | "passkey.limit" | "passkey.taken" | "passkey.unavailable" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.not_allowed" | "token.revoked" | "token.wrong";
  };
  /** Confirm keys that were found when a user's account was adopted, or dismiss them. */
  answerFoundKeys: {
    route: "POST /users/{id}/found-keys";
    input: { path: { id: number }; body: { answer: "confirm" | "dismiss"; fingerprints: (string)[] } };
    answer: { items: ({ fingerprint: string; type: string; options: string; comment: string; found_in: string; status: "found" | "stored" | "dismissed" | (string & {}); refusal: string })[] };
    reason: "account.foreign" | "account.group" | "account.missing" | "audit.unrecorded" | "database.full" | "host.refused" | "internal" | "key.attestation_missing" | "key.duplicate" | "key.format" | "key.limit" | "key.missing" | "key.private" | "key.type" | "key.weak" | "login.factor_needed" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "state.conflict" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong" | "user.missing" | "user.not_active";
  };
  /** Answer for a user in a review. */
  answerReviewItem: {
    route: "POST /reviews/{id}/items/{user}";
    input: { path: { id: number; user: number }; body: { answer: "keep" | "end" | "shorten" | "grace"; reason?: string; until?: string } };
    answer: { user_id: number; username: string; answer: "keep" | "end" | "shorten" | "unanswered" | "gone" | (string & {}) | null; grace_until: string | null; until: string | null; reason: string; answered_at: string | null; answered_by_type: "admin" | "user" | "cli" | "system" | "anonymous" | "token" | "sponsor" | (string & {}) | null; answered_by: string; answered_from: string; asked?: string; record: number | null; evidence: { status: "active" | "disabled" | "expired" | (string & {}); full_name: string; email: string; supervisor: string; purpose: string; company: string; expire_at: string; hosts: (string)[]; groups: (string)[]; source_networks: (string)[]; hours?: string; profile?: string; keys: ({ name: string; fingerprint: string; created_at: string; last_used_at: string | null; last_used_from: string })[]; last_login_at: string | null; logins: number; logins_since: string; created_at: string; created_by: string; extended_at: string | null; extended_by: string; extended_because: string; drift: (string)[] } | null };
    reason: "access.owed" | "audit.unrecorded" | "database.full" | "internal" | "login.factor_needed" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "review.answered" | "review.closed" | "review.missing" | "review.self" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong" | "user.missing";
  };
  /** Answer for several users in a review. */
  answerReviewItems: {
    route: "POST /reviews/{id}/items";
    input: { path: { id: number }; body: { users: (number)[]; answer: "keep" | "end" | "shorten" | "grace"; reason?: string; until?: string } };
    answer: { id: number; scope: "all" | (string & {}) | { company: number } | { host_group: number } | { sponsor: string }; scope_name: string; status: "open" | "closed" | (string & {}); started_at: string; due_at: string; closed_at: string | null; unanswered_way: "disable" | "report" | (string & {}); total: number; kept: number; ended: number; shortened: number; unanswered: number };
    reason: "access.owed" | "audit.unrecorded" | "database.full" | "internal" | "login.factor_needed" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "review.answered" | "review.closed" | "review.missing" | "review.self" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong" | "user.missing";
  };
  /** Apply for a colleague, or for more time for one. */
  applyForColleague: {
    route: "POST /me/company/applications";
    input: { body: { username?: string; email?: string; full_name?: string; purpose?: string; hours_wish?: string; user_id?: number; days?: number; reason?: string } };
    answer: { id: number; kind: "access" | "extension" | "access_request" | (string & {}); user_id: number | null; days: number | null; hours: number | null; hosts: (string)[] | null; end_when_asked: string | null; username: string; email: string; full_name: string; supervisor: string; purpose: string; company_id: number | null; requested_by: string; hours_wish: string; sponsor_email: string; sponsor_answer: "none" | "asked" | "vouched" | "declined" | (string & {}); sponsor_reason: string; status: "pending" | "approved" | "rejected" | (string & {}); reason: string; reviewed_by: string; reviewed_at: string | null; created_at: string };
    reason: "application.limit" | "audit.unrecorded" | "company.ended" | "company.not_manager" | "database.full" | "extension.pending" | "internal" | "rate.changes" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong" | "user.deleting" | "user.missing" | "user.not_active" | "user.recycled";
  };
  /** Ask what an administrator's login needs beside the password. */
  askForSecondStep: {
    route: "POST /auth/admin/second";
    input: { body: { username: string; password: string; captcha_id?: string; captcha_code?: string } };
    answer: { passkey: { challenge: string; rpId: string; timeout: number; allowCredentials: ({ type: "public-key" | (string & {}); id: string; transports: ("ble" | "cable" | "hybrid" | "internal" | "nfc" | "smart-card" | "usb" | (string & {}))[] })[]; userVerification: "required" | (string & {}) } | null; totp: boolean };
    reason: "audit.unrecorded" | "captcha.wrong" | "database.full" | "internal" | "login.locked" | "login.wrong" | "passkey.unavailable" | "rate.limited" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "service.busy" | "service.not_ready";
  };
  /** Get a secret for an authenticator app. */
  beginAuthenticatorApp: {
    route: "POST /auth/totp/begin";
    input: { body: { password?: string; passkey?: { id: string; rawId: string; type: "public-key"; response: { clientDataJSON: string; authenticatorData: string; signature: string; userHandle?: string | null } } } };
    answer: { secret: string; uri: string; picture: string; ticket: string };
    reason: "audit.unrecorded" | "database.full" | "internal" | "login.locked" | "login.not_recent" | "login.passkey_wrong" | "password.wrong" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "service.busy" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.not_allowed" | "token.revoked" | "token.wrong" | "totp.taken";
  };
  /** Get the browser's options to make a passkey. */
  beginPasskey: {
    route: "POST /auth/passkeys/begin";
    input: { body: { password?: string; passkey?: { id: string; rawId: string; type: "public-key"; response: { clientDataJSON: string; authenticatorData: string; signature: string; userHandle?: string | null } } } };
    answer: { rp: { id: string; name: string }; user: { id: string; name: string; displayName: string }; challenge: string; pubKeyCredParams: ({ type: "public-key" | (string & {}); alg: number })[]; timeout: number; excludeCredentials: ({ type: "public-key" | (string & {}); id: string; transports: ("ble" | "cable" | "hybrid" | "internal" | "nfc" | "smart-card" | "usb" | (string & {}))[] })[]; authenticatorSelection: { residentKey: "required" | (string & {}); requireResidentKey: boolean; userVerification: "required" | (string & {}) }; attestation: "none" | (string & {}) };
    reason: "audit.unrecorded" | "database.full" | "internal" | "login.locked" | "login.not_recent" | "login.passkey_wrong" | "passkey.limit" | "passkey.unavailable" | "password.wrong" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "service.busy" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.not_allowed" | "token.revoked" | "token.wrong";
  };
  /** Get a challenge for a security key. */
  challengeKey: {
    route: "GET /me/keys/challenge";
    input: {  };
    answer: { challenge: string; expires_at: string; command: string };
    reason: "database.full" | "internal" | "rate.limited" | "request.invalid" | "request.too_large" | "request.too_slow" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong";
  };
  /** Change one's own administrator password. */
  changeOwnPassword: {
    route: "POST /auth/admin/password";
    input: { body: { password: string; new_password: string } };
    answer: { status: "changed" | (string & {}) };
    reason: "audit.unrecorded" | "database.full" | "internal" | "login.factor_needed" | "login.locked" | "password.weak" | "password.wrong" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "service.busy" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.not_allowed" | "token.revoked" | "token.wrong";
  };
  /** Close a review. */
  closeReview: {
    route: "POST /reviews/{id}/close";
    input: { path: { id: number }; body?: { unanswered?: "disable" | "report" } };
    answer: { id: number; scope: "all" | (string & {}) | { company: number } | { host_group: number } | { sponsor: string }; scope_name: string; status: "open" | "closed" | (string & {}); started_at: string; due_at: string; closed_at: string | null; unanswered_way: "disable" | "report" | (string & {}); total: number; kept: number; ended: number; shortened: number; unanswered: number };
    reason: "audit.unrecorded" | "database.full" | "internal" | "login.factor_needed" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "review.closed" | "review.missing" | "review.open" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong";
  };
  /** Make a company. */
  createCompany: {
    route: "POST /companies";
    input: { body: { name: string; contract_end?: string | null; max_users?: number | null; max_ttl_days?: number | null; source_networks?: (string)[]; host_groups?: (string)[]; hours?: { zone: string; windows: ({ days: ("mon" | "tue" | "wed" | "thu" | "fri" | "sat" | "sun")[]; from: string; to: string })[] } | null; sponsor_email?: string } };
    answer: { id: number; name: string; contract_end: string | null; max_users: number | null; max_ttl_days: number | null; source_networks: (string)[]; host_groups: (string)[]; hours: { zone: string; windows: ({ days: ("mon" | "tue" | "wed" | "thu" | "fri" | "sat" | "sun" | (string & {}))[]; from: string; to: string })[] } | null; sponsor_email: string; status: "active" | "ending" | "ended" | (string & {}); users: number; narrowing: boolean; created_at: string; updated_at: string };
    reason: "audit.unrecorded" | "company.taken" | "database.full" | "host_group.missing" | "internal" | "login.factor_needed" | "network.invalid" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "sponsor.invalid" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong";
  };
  /** Make a group of hosts. */
  createHostGroup: {
    route: "POST /host-groups";
    input: { body: { name: string; hosts?: (string)[]; lease?: string | null; hours?: { zone: string; windows: ({ days: ("mon" | "tue" | "wed" | "thu" | "fri" | "sat" | "sun")[]; from: string; to: string })[] } | null; profile?: string | null } };
    answer: { id: number; name: string; hosts: (string)[]; users: number; lease: string | null; hours: { zone: string; windows: ({ days: ("mon" | "tue" | "wed" | "thu" | "fri" | "sat" | "sun" | (string & {}))[]; from: string; to: string })[] } | null; profile: string | null; for_new_users: boolean; created_at: string };
    reason: "audit.unrecorded" | "database.full" | "host.missing" | "host.retiring" | "host_group.taken" | "internal" | "login.factor_needed" | "profile.missing" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong";
  };
  /** Make the line that joins a host. */
  createJoinToken: {
    route: "POST /hosts/tokens";
    input: { body?: { name?: string; group?: string; password?: string; passkey?: { id: string; rawId: string; type: "public-key"; response: { clientDataJSON: string; authenticatorData: string; signature: string; userHandle?: string | null } } } };
    answer: { line: string; expires_at: string };
    reason: "audit.unrecorded" | "database.full" | "host.taken" | "host_group.missing" | "internal" | "login.factor_needed" | "login.locked" | "login.not_recent" | "login.passkey_wrong" | "password.wrong" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.busy" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong";
  };
  /** Make a profile. */
  createProfile: {
    route: "POST /profiles";
    input: { body: { name: string; kind: "shell" | "sftp" | "forward" | "command"; directory?: string; read_only?: boolean; umask?: string | null; targets?: (string)[]; forwarding?: boolean | (string)[]; command?: string; idle?: string | null; max_sessions?: number | null; second_factor?: "none" | "verified"; attestation?: "none" | "required"; groups?: (string)[]; sudo?: (string)[]; banner?: string | null } };
    answer: { id: number; name: string; kind: "shell" | "sftp" | "forward" | "command" | (string & {}); directory: string | null; read_only: boolean; umask: string | null; targets: (string)[]; forwarding: boolean | (string)[]; command: string | null; idle: string | null; max_sessions: number | null; second_factor: "none" | "verified" | (string & {}); attestation: "none" | "required" | (string & {}); groups: (string)[]; sudo: (string)[]; banner: string | null; users: number };
    reason: "audit.unrecorded" | "database.full" | "internal" | "login.factor_needed" | "profile.attestation" | "profile.refused" | "profile.taken" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong";
  };
  /** Make a token for a machine. */
  createToken: {
    route: "POST /tokens";
    input: { body: { name: string; role: "owner" | "operator" | "reviewer" | "auditor"; days: number; networks?: (string)[]; password?: string; passkey?: { id: string; rawId: string; type: "public-key"; response: { clientDataJSON: string; authenticatorData: string; signature: string; userHandle?: string | null } } } };
    answer: { id: number; name: string; role: "owner" | "operator" | "reviewer" | "auditor" | (string & {}); prefix: string; owner: string; made_by: number | null; networks: (string)[]; created_at: string; expires_at: string; last_used_at: string | null; last_used_from: string; revoked_at: string | null; status: "active" | "expired" | "revoked" | (string & {}); token: string };
    reason: "audit.unrecorded" | "database.full" | "internal" | "login.factor_needed" | "login.locked" | "login.not_recent" | "login.passkey_wrong" | "network.invalid" | "password.wrong" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.busy" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.limit" | "token.made" | "token.misplaced" | "token.network" | "token.not_allowed" | "token.revoked" | "token.wrong";
  };
  /** Create an external user and the host account. */
  createUser: {
    route: "POST /users";
    input: { body: { username: string; email: string; full_name?: string; supervisor?: string; purpose?: string; note?: string; ttl_days?: number; expire_at?: string; starts_at?: string; hours?: { zone: string; windows: ({ days: ("mon" | "tue" | "wed" | "thu" | "fri" | "sat" | "sun")[]; from: string; to: string })[] } | null; hours_end?: "sessions" | "logins"; on_request?: { rule: "self" | "sponsor" | "review"; max_hours: number; groups?: (string)[] } | null; source_networks?: (string)[]; company_id?: number | null; manager?: boolean; sponsor_email?: string; profile?: string | null } };
    answer: { id: number; username: string; status: "active" | "disabled" | "expired" | (string & {}); expire_at: string };
    reason: "account.foreign" | "account.group" | "account.missing" | "account.taken" | "audit.unrecorded" | "company.ended" | "company.full" | "company.limit" | "company.missing" | "database.full" | "host.refused" | "host_group.missing" | "internal" | "login.factor_needed" | "network.invalid" | "profile.incomparable" | "profile.missing" | "profile.mode" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "sponsor.invalid" | "sponsor.missing" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong" | "user.taken";
  };
  /** Make a webhook. */
  createWebhook: {
    route: "POST /webhooks";
    input: { body: { url: string; actions?: ("auth.admin_login" | "auth.admin_password_only" | "auth.changes_refused" | "auth.otp_send" | "auth.otp_login" | "auth.logout" | "auth.sso_logout" | "auth.admin_forgot" | "auth.admin_reset" | "auth.admin_password" | "auth.passkey_add" | "auth.passkey_rename" | "auth.passkey_remove" | "auth.totp_add" | "auth.totp_remove" | "user.create" | "user.update" | "user.disable" | "user.enable" | "user.extend" | "user.shorten" | "user.delete" | "user.lock" | "user.export" | "user.adopt" | "user.give_back" | "user.welcome" | "user.terms" | "extension.request" | "extension.withdraw" | "session.end" | "user.end_sessions" | "key.create" | "key.confirm" | "key.dismiss" | "key.rename" | "key.update" | "key.revoke" | "approval.submit" | "approval.review" | "settings.update" | "lifecycle.expire" | "lifecycle.recycle" | "access.window" | "access.request" | "access.allow" | "access.refuse" | "access.end" | "admin.create" | "admin.update" | "admin.remove" | "admin.readmit" | "admin.end_sessions" | "token.create" | "token.revoke" | "webhook.create" | "webhook.update" | "webhook.delete" | "reconcile.repair" | "audit.purge" | "audit.export" | "audit.read" | "service.backup" | "service.restore" | "host.enrol" | "host.lock" | "host.unlock" | "host.update" | "host.retire" | "host.forget" | "host.rotate" | "host.drift" | "host.hold" | "host_token.create" | "host_group.create" | "host_group.update" | "host_group.delete" | "user.grant" | "fleet.confirmed" | "fleet.diverged" | "fleet.accept" | "company.create" | "company.update" | "company.delete" | "company.end" | "company.resume" | "profile.create" | "profile.update" | "profile.delete" | "review.start" | "review.answer" | "review.unanswered" | "review.close" | "sponsor.vouch" | "sponsor.decline" | "sponsor.end" | "sponsor.move")[]; password?: string; passkey?: { id: string; rawId: string; type: "public-key"; response: { clientDataJSON: string; authenticatorData: string; signature: string; userHandle?: string | null } } } };
    answer: { id: number; url: string; actions: ("auth.admin_login" | "auth.admin_password_only" | "auth.changes_refused" | "auth.otp_send" | "auth.otp_login" | "auth.logout" | "auth.sso_logout" | "auth.admin_forgot" | "auth.admin_reset" | "auth.admin_password" | "auth.passkey_add" | "auth.passkey_rename" | "auth.passkey_remove" | "auth.totp_add" | "auth.totp_remove" | "user.create" | "user.update" | "user.disable" | "user.enable" | "user.extend" | "user.shorten" | "user.delete" | "user.lock" | "user.export" | "user.adopt" | "user.give_back" | "user.welcome" | "user.terms" | "extension.request" | "extension.withdraw" | "session.end" | "user.end_sessions" | "key.create" | "key.confirm" | "key.dismiss" | "key.rename" | "key.update" | "key.revoke" | "approval.submit" | "approval.review" | "settings.update" | "lifecycle.expire" | "lifecycle.recycle" | "access.window" | "access.request" | "access.allow" | "access.refuse" | "access.end" | "admin.create" | "admin.update" | "admin.remove" | "admin.readmit" | "admin.end_sessions" | "token.create" | "token.revoke" | "webhook.create" | "webhook.update" | "webhook.delete" | "reconcile.repair" | "audit.purge" | "audit.export" | "audit.read" | "service.backup" | "service.restore" | "host.enrol" | "host.lock" | "host.unlock" | "host.update" | "host.retire" | "host.forget" | "host.rotate" | "host.drift" | "host.hold" | "host_token.create" | "host_group.create" | "host_group.update" | "host_group.delete" | "user.grant" | "fleet.confirmed" | "fleet.diverged" | "fleet.accept" | "company.create" | "company.update" | "company.delete" | "company.end" | "company.resume" | "profile.create" | "profile.update" | "profile.delete" | "review.start" | "review.answer" | "review.unanswered" | "review.close" | "sponsor.vouch" | "sponsor.decline" | "sponsor.end" | "sponsor.move" | (string & {}))[]; status: "active" | "disabled" | (string & {}); created_at: string; made_by: string; maker_removed: boolean; lag: number; failing_since: string | null; last_error: string; last_delivered_at: string | null; secret: string };
    reason: "audit.unrecorded" | "database.full" | "internal" | "login.factor_needed" | "login.locked" | "login.not_recent" | "login.passkey_wrong" | "password.wrong" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.busy" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong" | "webhook.address" | "webhook.limit";
  };
  /** Answer what the link in a mail asks. */
  decide: {
    route: "POST /decisions";
    input: { body: { token: string; answers: ({ id: number; answer: string; reason?: string; until?: string })[] } };
    answer: { answered: ({ id: number; answer: string; reason: string; until: string | null; at: string })[]; hosts?: { total: number; confirmed: number; pending: (string)[]; effective_by: string | null }; effective_by?: string | null };
    reason: "access.owed" | "audit.unrecorded" | "database.full" | "decision.answered" | "decision.closed" | "decision.missing" | "internal" | "rate.limited" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "service.not_ready";
  };
  /** Delete a company. */
  deleteCompany: {
    route: "DELETE /companies/{id}";
    input: { path: { id: number } };
    answer: { status: "deleted" | (string & {}) };
    reason: "audit.unrecorded" | "company.missing" | "company.used" | "database.full" | "internal" | "login.factor_needed" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong";
  };
  /** Delete a group of hosts. */
  deleteHostGroup: {
    route: "DELETE /host-groups/{id}";
    input: { path: { id: number }; query?: { preview?: "true" | "false" } };
    answer: { preview: true; effects: (string)[]; host: (string)[]; accounts: { opened: number; shut: number; removed: number } } | { status: "deleted" | (string & {}) };
    reason: "audit.unrecorded" | "database.full" | "host_group.missing" | "host_group.used" | "internal" | "login.factor_needed" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong";
  };
  /** Delete a profile. */
  deleteProfile: {
    route: "DELETE /profiles/{id}";
    input: { path: { id: number }; query?: { preview?: "true" | "false" } };
    answer: { preview: true; effects: (string)[]; host: (string)[]; users: number } | { status: "deleted" | (string & {}) };
    reason: "audit.unrecorded" | "database.full" | "internal" | "login.factor_needed" | "profile.missing" | "profile.used" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong";
  };
  /** Delete a user, the host account, the home directory and the keys. */
  deleteUser: {
    route: "DELETE /users/{id}";
    input: { path: { id: number }; query?: { preview?: "true" | "false"; reason?: string } };
    answer: { preview: true; effects: (string)[]; host: (string)[]; status: "active" | "disabled" | "expired" | "deleted" | (string & {}); expire_at: string | null } | { status: "deleted" | (string & {}); hosts?: { total: number; confirmed: number; pending: (string)[]; effective_by: string | null } };
    reason: "access.owed" | "audit.unrecorded" | "database.full" | "host.refused" | "internal" | "login.factor_needed" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong" | "user.missing";
  };
  /** Delete a webhook, with its log of deliveries. */
  deleteWebhook: {
    route: "DELETE /webhooks/{id}";
    input: { path: { id: number } };
    answer: { status: "deleted" | (string & {}) };
    reason: "audit.unrecorded" | "database.full" | "internal" | "login.factor_needed" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong" | "webhook.missing";
  };
  /** Find out whether a user can log in by SSH now, and why not. */
  diagnoseUser: {
    route: "GET /users/{id}/diagnosis";
    input: { path: { id: number } };
    answer: { can: boolean; because: ({ reason: "disabled" | "expired" | "deleting" | "closing" | "not_yet" | "outside_hours" | "on_request" | "no_keys" | "networks" | "no_host" | "dry_run" | "host_pending" | "host_open" | "host_problem" | "account_missing" | "account_foreign" | "account_locked" | "account_group" | "key_file" | "key_type" | "shell" | "home" | "sshd" | "nologin" | "unchecked" | (string & {}); text: string; remedy: string })[]; refused: ({ at: string; from: string; why: string })[]; log: { read: boolean; text: string } };
    reason: "database.full" | "host.refused" | "internal" | "login.factor_needed" | "rate.limited" | "request.invalid" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong" | "user.missing";
  };
  /** End a user's access at once. */
  disableUser: {
    route: "POST /users/{id}/disable";
    input: { path: { id: number }; query?: { preview?: "true" | "false" }; body?: { reason?: string; unchanged_since?: string } };
    answer: { preview: true; effects: (string)[]; host: (string)[]; status: "active" | "disabled" | "expired" | "deleted" | (string & {}); expire_at: string | null } | { status: "disabled" | (string & {}); hosts?: { total: number; confirmed: number; pending: (string)[]; effective_by: string | null }; updated_at?: string };
    reason: "access.owed" | "account.foreign" | "account.missing" | "audit.unrecorded" | "database.full" | "host.refused" | "internal" | "login.factor_needed" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong" | "user.changed" | "user.expired" | "user.missing";
  };
  /** Drop an override. */
  dropSetting: {
    route: "DELETE /settings/{key}";
    input: { path: { key: "policy.default_ttl" | "policy.recycle_period" | "policy.audit_retention" | "policy.review_every" | "policy.inactive_after" }; query?: { preview?: "true" | "false" } };
    answer: { preview: true; effects: (string)[]; host: (string)[]; key: "policy.default_ttl" | "policy.recycle_period" | "policy.audit_retention" | "policy.review_every" | "policy.inactive_after" | (string & {}); value: string; at: string; deletes: { users: number; audit_records: number } } | { key: "policy.default_ttl" | "policy.recycle_period" | "policy.audit_retention" | "policy.review_every" | "policy.inactive_after" | (string & {}); value: string; overridden: boolean; pending?: { value: string; at: string } };
    reason: "audit.unrecorded" | "database.full" | "internal" | "login.factor_needed" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "setting.missing" | "setting.too_short" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong";
  };
  /** Give a disabled user access again. */
  enableUser: {
    route: "POST /users/{id}/enable";
    input: { path: { id: number }; query?: { preview?: "true" | "false" }; body?: { reason?: string; unchanged_since?: string } };
    answer: { preview: true; effects: (string)[]; host: (string)[]; status: "active" | "disabled" | "expired" | "deleted" | (string & {}); expire_at: string | null } | { status: "active" | (string & {}); updated_at?: string };
    reason: "account.foreign" | "account.group" | "account.missing" | "audit.unrecorded" | "company.ended" | "company.limit" | "database.full" | "host.refused" | "internal" | "login.factor_needed" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong" | "user.changed" | "user.deleting" | "user.disabling" | "user.expired" | "user.missing";
  };
  /** End a user's access on request before its time. */
  endAccess: {
    route: "DELETE /users/{id}/access";
    input: { path: { id: number }; query?: { reason?: string } };
    answer: { access: "on_request" | "not_yet" | "outside_hours" | "closed" | (string & {}); hosts?: { total: number; confirmed: number; pending: (string)[]; effective_by: string | null } };
    reason: "access.not_on_request" | "access.owed" | "audit.unrecorded" | "database.full" | "internal" | "login.factor_needed" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong" | "user.missing";
  };
  /** End an administrator's sessions. */
  endAdminSessions: {
    route: "DELETE /admins/{id}/sessions";
    input: { path: { id: number } };
    answer: { status: "ended" | (string & {}); sessions: number };
    reason: "admin.missing" | "audit.unrecorded" | "database.full" | "internal" | "login.factor_needed" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong";
  };
  /** End the access of somebody of the company that you manage. */
  endColleague: {
    route: "POST /me/company/users/{id}/end";
    input: { path: { id: number } };
    answer: { status: "disabled" | "expired" | (string & {}); effective_by: string | null; hosts?: { total: number; confirmed: number; pending: (string)[]; effective_by: string | null } };
    reason: "access.owed" | "audit.unrecorded" | "company.not_manager" | "database.full" | "internal" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong" | "user.missing";
  };
  /** End the access of everybody of a company. */
  endCompany: {
    route: "POST /companies/{id}/end";
    input: { path: { id: number }; query?: { preview?: "true" | "false" } };
    answer: { preview: true; effects: (string)[]; host: (string)[]; users: number } | { status: "active" | "ending" | "ended" | (string & {}); users: { total: number; closed: number; owed: number }; effective_by: string | null; hosts?: { total: number; confirmed: number; pending: (string)[]; effective_by: string | null } };
    reason: "audit.unrecorded" | "company.missing" | "database.full" | "internal" | "login.factor_needed" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong";
  };
  /** End your access on request before its time. */
  endOwnAccess: {
    route: "DELETE /me/access";
    input: {  };
    answer: { access: "on_request" | "not_yet" | "outside_hours" | "closed" | (string & {}); hosts?: { total: number; confirmed: number; pending: (string)[]; effective_by: string | null } };
    reason: "access.not_on_request" | "access.owed" | "audit.unrecorded" | "database.full" | "internal" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong" | "user.missing";
  };
  /** End one SSH login. */
  endUserSession: {
    route: "DELETE /users/{id}/sessions/{sessionId}";
    input: { path: { id: number; sessionId: string } };
    answer: { status: "ended" | (string & {}) };
    reason: "access.owed" | "audit.unrecorded" | "connection.missing" | "database.full" | "host.refused" | "internal" | "login.factor_needed" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong" | "user.missing";
  };
  /** Sign a user out. */
  endUserWebSessions: {
    route: "DELETE /users/{id}/web-sessions";
    input: { path: { id: number } };
    answer: { status: "ended" | (string & {}); sessions: number };
    reason: "audit.unrecorded" | "database.full" | "internal" | "login.factor_needed" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong" | "user.missing";
  };
  /** Join a host. */
  enrolHost: {
    route: "POST /agent/enrol";
    input: { body: { token: string; name: string; public_key: string; mode: "dry-run" | "direct" | "sudo"; version: string; ssh: { host: string; port: number; host_keys: ({ type: string; base64: string; fingerprint: string })[] }; highest_uid: number } };
    answer: { host_id: number; name: string };
    reason: "audit.unrecorded" | "database.full" | "host.key_taken" | "host.refused" | "host.taken" | "host.uids" | "host_token.wrong" | "internal" | "rate.limited" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "service.not_ready";
  };
  /** Export the audit log as CSV or JSON lines. */
  exportAudit: {
    route: "GET /audit/export";
    input: { query?: { q?: string; actor?: string; action?: "auth.admin_login" | "auth.admin_password_only" | "auth.changes_refused" | "auth.otp_send" | "auth.otp_login" | "auth.logout" | "auth.sso_logout" | "auth.admin_forgot" | "auth.admin_reset" | "auth.admin_password" | "auth.passkey_add" | "auth.passkey_rename" | "auth.passkey_remove" | "auth.totp_add" | "auth.totp_remove" | "user.create" | "user.update" | "user.disable" | "user.enable" | "user.extend" | "user.shorten" | "user.delete" | "user.lock" | "user.export" | "user.adopt" | "user.give_back" | "user.welcome" | "user.terms" | "extension.request" | "extension.withdraw" | "session.end" | "user.end_sessions" | "key.create" | "key.confirm" | "key.dismiss" | "key.rename" | "key.update" | "key.revoke" | "approval.submit" | "approval.review" | "settings.update" | "lifecycle.expire" | "lifecycle.recycle" | "access.window" | "access.request" | "access.allow" | "access.refuse" | "access.end" | "admin.create" | "admin.update" | "admin.remove" | "admin.readmit" | "admin.end_sessions" | "token.create" | "token.revoke" | "webhook.create" | "webhook.update" | "webhook.delete" | "reconcile.repair" | "audit.purge" | "audit.export" | "audit.read" | "service.backup" | "service.restore" | "host.enrol" | "host.lock" | "host.unlock" | "host.update" | "host.retire" | "host.forget" | "host.rotate" | "host.drift" | "host.hold" | "host_token.create" | "host_group.create" | "host_group.update" | "host_group.delete" | "user.grant" | "fleet.confirmed" | "fleet.diverged" | "fleet.accept" | "company.create" | "company.update" | "company.delete" | "company.end" | "company.resume" | "profile.create" | "profile.update" | "profile.delete" | "review.start" | "review.answer" | "review.unanswered" | "review.close" | "sponsor.vouch" | "sponsor.decline" | "sponsor.end" | "sponsor.move"; resource_type?: "user" | "ssh_key" | "setting" | "admin" | "token" | "webhook" | "host" | "host_group" | "fleet" | "company" | "review" | "profile"; resource_id?: string; result?: "success" | "failed"; user_id?: number; since?: string; until?: string; format?: "csv" | "jsonl" } };
    answer: string;
    reason: "audit.unrecorded" | "database.full" | "internal" | "login.factor_needed" | "rate.limited" | "request.invalid" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.busy" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong";
  };
  /** Export external users as CSV or JSON lines. */
  exportUsers: {
    route: "GET /users/export";
    input: { query?: { status?: "active" | "disabled" | "expired"; access?: "open" | "not_yet" | "outside_hours" | "on_request" | "closed"; supervisor?: string; q?: string; welcome?: "pending"; company?: number; sponsor?: string; terms?: "pending" | "overdue"; last_used?: "never"; silent_for?: string; sort?: "created_at" | "-created_at" | "username" | "-username" | "expire_at" | "-expire_at"; format?: "csv" | "jsonl" } };
    answer: string;
    reason: "audit.unrecorded" | "database.full" | "internal" | "login.factor_needed" | "rate.limited" | "request.invalid" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.busy" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong";
  };
  /** Move a user's expiry. */
  extendUser: {
    route: "POST /users/{id}/extend";
    input: { path: { id: number }; query?: { preview?: "true" | "false" }; body?: { days?: number; until?: string; reason?: string; unchanged_since?: string } };
    answer: { preview: true; effects: (string)[]; host: (string)[]; status: "active" | "disabled" | "expired" | "deleted" | (string & {}); expire_at: string | null } | { expire_at: string; old_expire_at?: string; updated_at?: string; hosts?: { total: number; confirmed: number; pending: (string)[]; effective_by: string | null } };
    reason: "access.owed" | "account.foreign" | "account.group" | "account.missing" | "audit.unrecorded" | "company.ended" | "company.limit" | "database.full" | "host.refused" | "internal" | "login.factor_needed" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "state.conflict" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong" | "user.changed" | "user.deleting" | "user.disabling" | "user.missing" | "user.recycled" | "user.shortening" | "user.too_late";
  };
  /** Send an administrator a reset token by e-mail. */
  forgotPassword: {
    route: "POST /auth/admin/forgot";
    input: { body: { username: string } };
    answer: { status: "sent" | (string & {}) };
    reason: "audit.unrecorded" | "database.full" | "internal" | "rate.limited" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "service.not_ready";
  };
  /** What needs an administrator today. */
  getAttention: {
    route: "GET /admin/attention";
    input: {  };
    answer: { requests: number; problems: number; incidents: { total: number; items: ({ user_id: number; username: string; at: string })[] }; owed: number; hosts: number; receivers: ({ kind: "webhook" | "stream" | (string & {}); id: number | null; name: string; since: string | null; lag: number; problem: string })[]; sponsors: ({ email: string; users: number; since: string; problem: string })[]; reviews: ({ id: number; due_at: string; waiting: number })[]; mail: { waiting: number; lost: number; since: string; problem: string } | null; mail_unsent: boolean; backup: { at: string; problem: string } | null };
    reason: "database.full" | "internal" | "login.factor_needed" | "rate.limited" | "request.invalid" | "request.too_large" | "request.too_slow" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong";
  };
  /** Whether an authenticator app is set up. */
  getAuthenticatorApp: {
    route: "GET /auth/totp";
    input: {  };
    answer: { added: boolean; created_at: string | null; last_used_at: string | null };
    reason: "database.full" | "internal" | "rate.limited" | "request.invalid" | "request.too_large" | "request.too_slow" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.not_allowed" | "token.revoked" | "token.wrong";
  };
  /** Get a captcha. */
  getCaptcha: {
    route: "GET /auth/captcha";
    input: {  };
    answer: { captcha_id: string; image: string; proof: { algorithm: "SHA-256" | (string & {}); salt: string; target: string; maximum: number } | null };
    reason: "database.full" | "internal" | "rate.limited" | "request.too_large" | "request.too_slow" | "service.busy" | "service.not_ready";
  };
  /** Read a company. */
  getCompany: {
    route: "GET /companies/{id}";
    input: { path: { id: number } };
    answer: { id: number; name: string; contract_end: string | null; max_users: number | null; max_ttl_days: number | null; source_networks: (string)[]; host_groups: (string)[]; hours: { zone: string; windows: ({ days: ("mon" | "tue" | "wed" | "thu" | "fri" | "sat" | "sun" | (string & {}))[]; from: string; to: string })[] } | null; sponsor_email: string; status: "active" | "ending" | "ended" | (string & {}); users: number; narrowing: boolean; created_at: string; updated_at: string };
    reason: "company.missing" | "database.full" | "internal" | "login.factor_needed" | "rate.limited" | "request.invalid" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong";
  };
  /** Read how far the end of a company is. */
  getCompanyEnding: {
    route: "GET /companies/{id}/end";
    input: { path: { id: number } };
    answer: { status: "active" | "ending" | "ended" | (string & {}); users: { total: number; closed: number; owed: number }; effective_by: string | null; hosts?: { total: number; confirmed: number; pending: (string)[]; effective_by: string | null } };
    reason: "company.missing" | "database.full" | "internal" | "login.factor_needed" | "rate.limited" | "request.invalid" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong";
  };
  /** Get the caller's ways to confirm, with the browser's options for a passkey. */
  getConfirmationChallenge: {
    route: "GET /auth/passkeys/challenge";
    input: {  };
    answer: { passkey: { challenge: string; rpId: string; timeout: number; allowCredentials: ({ type: "public-key" | (string & {}); id: string; transports: ("ble" | "cable" | "hybrid" | "internal" | "nfc" | "smart-card" | "usb" | (string & {}))[] })[]; userVerification: "required" | (string & {}) } | null; password: boolean };
    reason: "database.full" | "internal" | "passkey.unavailable" | "rate.limited" | "request.invalid" | "request.too_large" | "request.too_slow" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.not_allowed" | "token.revoked" | "token.wrong";
  };
  /** Get the settings that the console needs before a login. */
  getConsoleConfig: {
    route: "GET /console/config";
    input: {  };
    answer: { version: string; brand: string; logo: string | null; dry_run: boolean; captcha: "image" | "proof" | "both" | "off" | (string & {}); sponsor: "off" | "optional" | "required" | (string & {}); terms: boolean; contact: string; sso: { name: string } | null; setup: { command: string } | null };
    reason: "database.full" | "internal" | "request.too_large" | "request.too_slow" | "service.not_ready";
  };
  /** Get the service's identity. */
  getFleetKey: {
    route: "GET /agent/key";
    input: { query: { challenge: string } };
    answer: { public_key: string; signature: string };
    reason: "database.full" | "internal" | "rate.limited" | "request.invalid" | "request.too_large" | "request.too_slow" | "service.not_ready";
  };
  /** Whether the process is running. */
  getHealth: {
    route: "GET /healthz";
    input: {  };
    answer: { status: "ok" | "degraded" | (string & {}); version: string; uptime: number; go: string; timestamp: string };
    reason: "database.full" | "internal" | "request.too_large" | "request.too_slow" | "service.not_ready";
  };
  /** Read a host. */
  getHost: {
    route: "GET /hosts/{id}";
    input: { path: { id: number } };
    answer: { id: number; name: string; kind: "local" | "remote" | (string & {}); status: "active" | "locked" | "retiring" | (string & {}); groups: (string)[]; ssh_host: string; ssh_port: number; lease: string | null; own_lease: string | null; lease_ends: "logins" | "sessions" | (string & {}); lease_until: string | null; enrolled_at: string; last_seen_at: string | null; mode: string; version: string; clock_offset_ms: number; host_keys: (string)[]; accounts: { total: number; open: number }; problems: ({ host: string; account: string; kind: "conflict" | "missing" | "refused" | "drift" | "finding" | "silent" | "lease_ended" | "diverged" | "unknown" | "clock" | "no_lease" | "locked" | "profile" | (string & {}); text: string; since: string })[]; profiles: ({ name: string; state: "applied" | "problem" | (string & {}); problem: string })[] };
    reason: "database.full" | "host.missing" | "internal" | "login.factor_needed" | "rate.limited" | "request.invalid" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong";
  };
  /** Read a group of hosts. */
  getHostGroup: {
    route: "GET /host-groups/{id}";
    input: { path: { id: number } };
    answer: { id: number; name: string; hosts: (string)[]; users: number; lease: string | null; hours: { zone: string; windows: ({ days: ("mon" | "tue" | "wed" | "thu" | "fri" | "sat" | "sun" | (string & {}))[]; from: string; to: string })[] } | null; profile: string | null; for_new_users: boolean; created_at: string };
    reason: "database.full" | "host_group.missing" | "internal" | "login.factor_needed" | "rate.limited" | "request.invalid" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong";
  };
  /** This document. */
  getOpenApi: {
    route: "GET /openapi.json";
    input: {  };
    answer: { openapi: string; info: { title: string; version: string }; paths: {  } };
    reason: "database.full" | "internal" | "request.too_large" | "request.too_slow" | "service.not_ready";
  };
  /** Read your own account, and how to connect to it. */
  getOwnAccount: {
    route: "GET /me";
    input: {  };
    answer: { id: number; username: string; host_account: string; email: string; full_name: string; supervisor: string; purpose: string; source_networks: (string)[]; manager: boolean; profile: string | null; status: "active" | "disabled" | "expired" | (string & {}); expire_at: string; access: "open" | "not_yet" | "outside_hours" | "on_request" | "closed" | (string & {}); access_changes_at: string | null; on_request: { rule: "self" | "sponsor" | "review" | (string & {}); max_hours: number; groups?: (string)[]; request: { id: number; status: "pending" | "approved" | "rejected" | (string & {}); hours: number; hosts: (string)[] | null; created_at: string; reviewed_at: string | null; reason: string } | null; hosts: ({ name: string; until: string | null })[] } | null; created_at: string; ends: { at: string; reason: "expiry" | "expired" | "disabled" | (string & {}); removed_at: string }; ssh: { host: string; port: number; host_keys: (string)[]; command: string; profile?: { kind: "shell" | "sftp" | "forward" | "command" | (string & {}); means: string; commands: (string)[]; second_factor: "none" | "verified" | (string & {}); attestation: "none" | "required" | (string & {}) }; config: string; known_hosts: (string)[] } | null; extension: { id: number; status: "pending" | "approved" | "rejected" | (string & {}); days: number; created_at: string; reviewed_at: string | null; reason: string } | null; hours?: { texts: (string)[]; zone: string | null; starts_at: string | null; access: "open" | "not_yet" | "outside_hours" | "on_request" | "closed" | (string & {}); access_changes_at: string | null; next: { from: string; to: string } | null }; terms?: { version: string; pending: boolean; accepted_at: string | null }; contact: string };
    reason: "database.full" | "internal" | "rate.limited" | "request.invalid" | "request.too_large" | "request.too_slow" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong";
  };
  /** Read when your access is open, as a calendar file. */
  getOwnCalendar: {
    route: "GET /me/hours.ics";
    input: {  };
    answer: string;
    reason: "database.full" | "internal" | "rate.limited" | "request.invalid" | "request.too_large" | "request.too_slow" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong" | "user.missing";
  };
  /** Read the company that you manage. */
  getOwnCompany: {
    route: "GET /me/company";
    input: {  };
    answer: { id: number; name: string; status: "active" | "ending" | "ended" | (string & {}); contract_end: string | null; max_users: number | null; users: number };
    reason: "company.not_manager" | "database.full" | "internal" | "rate.limited" | "request.invalid" | "request.too_large" | "request.too_slow" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong" | "user.missing";
  };
  /** Get the browser's options for a login with a passkey. */
  getPasskeyChallenge: {
    route: "GET /auth/passkey/challenge";
    input: {  };
    answer: { challenge: string; rpId: string; timeout: number; allowCredentials: ({ type: "public-key" | (string & {}); id: string; transports: ("ble" | "cable" | "hybrid" | "internal" | "nfc" | "smart-card" | "usb" | (string & {}))[] })[]; userVerification: "required" | (string & {}) };
    reason: "database.full" | "internal" | "passkey.unavailable" | "rate.limited" | "request.too_large" | "request.too_slow" | "service.not_ready";
  };
  /** Who is logged in. */
  getPrincipal: {
    route: "GET /auth/me";
    input: {  };
    answer: { user_type: "admin" | "user" | (string & {}); id: number; username: string; email: string; role?: "owner" | "operator" | "reviewer" | "auditor" | (string & {}); needs?: "second-factor" | "passkey" | (string & {}); token?: { id: number; name: string; expires_at: string } };
    reason: "database.full" | "internal" | "rate.limited" | "request.invalid" | "request.too_large" | "request.too_slow" | "service.not_ready" | "session.missing" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong";
  };
  /** Read a profile. */
  getProfile: {
    route: "GET /profiles/{id}";
    input: { path: { id: number } };
    answer: { id: number; name: string; kind: "shell" | "sftp" | "forward" | "command" | (string & {}); directory: string | null; read_only: boolean; umask: string | null; targets: (string)[]; forwarding: boolean | (string)[]; command: string | null; idle: string | null; max_sessions: number | null; second_factor: "none" | "verified" | (string & {}); attestation: "none" | "required" | (string & {}); groups: (string)[]; sudo: (string)[]; banner: string | null; users: number };
    reason: "database.full" | "internal" | "login.factor_needed" | "profile.missing" | "rate.limited" | "request.invalid" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong";
  };
  /** Whether the service is ready for requests. */
  getReadiness: {
    route: "GET /readyz";
    input: {  };
    answer: { status: "ok" | (string & {}) };
    reason: "database.full" | "internal" | "request.too_large" | "request.too_slow" | "service.not_ready";
  };
  /** Read a review. */
  getReview: {
    route: "GET /reviews/{id}";
    input: { path: { id: number } };
    answer: { id: number; scope: "all" | (string & {}) | { company: number } | { host_group: number } | { sponsor: string }; scope_name: string; status: "open" | "closed" | (string & {}); started_at: string; due_at: string; closed_at: string | null; unanswered_way: "disable" | "report" | (string & {}); total: number; kept: number; ended: number; shortened: number; unanswered: number };
    reason: "database.full" | "internal" | "login.factor_needed" | "rate.limited" | "request.invalid" | "request.too_large" | "request.too_slow" | "review.missing" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong";
  };
  /** Counts of users and applications, and users who expire soon. */
  getStats: {
    route: "GET /admin/stats";
    input: {  };
    answer: { total: number; active: number; disabled: number; expired: number; expiring_soon: ({ id: number; username: string; host_account: string; email: string; full_name: string; supervisor: string; purpose: string; note: string; source_networks: (string)[]; company_id: number | null; manager: boolean; sponsor_email: string; profile: string | null; status: "active" | "disabled" | "expired" | (string & {}); expire_at: string; starts_at: string | null; hours: { zone: string; windows: ({ days: ("mon" | "tue" | "wed" | "thu" | "fri" | "sat" | "sun" | (string & {}))[]; from: string; to: string })[] } | null; hours_end: "sessions" | "logins" | (string & {}); on_request: { rule: "self" | "sponsor" | "review" | (string & {}); max_hours: number; groups?: (string)[] } | null; access: "open" | "not_yet" | "outside_hours" | "on_request" | "closed" | (string & {}); access_changes_at: string | null; disabled_at: string | null; welcome: "pending" | "sent" | (string & {}); created_at: string; updated_at: string })[]; pending_approvals: number };
    reason: "database.full" | "internal" | "login.factor_needed" | "rate.limited" | "request.invalid" | "request.too_large" | "request.too_slow" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong";
  };
  /** Users by state, endings and changes by day. */
  getStatsSeries: {
    route: "GET /admin/stats/series";
    input: { query?: { days?: number } };
    answer: { days: number; states: ({ date: string; active: number; disabled: number; expired: number })[]; ends: ({ date: string; users: number })[]; changes: ({ date: string; changes: number; failed: number })[] };
    reason: "database.full" | "internal" | "login.factor_needed" | "rate.limited" | "request.invalid" | "request.too_large" | "request.too_slow" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong";
  };
  /** Read the terms of use. */
  getTerms: {
    route: "GET /me/terms";
    input: {  };
    answer: { version: string; pending: boolean; accepted_at: string | null; text: string };
    reason: "database.full" | "internal" | "rate.limited" | "request.invalid" | "request.too_large" | "request.too_slow" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "terms.none" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong";
  };
  /** Read an external user. */
  getUser: {
    route: "GET /users/{id}";
    input: { path: { id: number } };
    answer: { id: number; username: string; host_account: string; email: string; full_name: string; supervisor: string; purpose: string; note: string; source_networks: (string)[]; company_id: number | null; manager: boolean; sponsor_email: string; profile: string | null; status: "active" | "disabled" | "expired" | (string & {}); expire_at: string; starts_at: string | null; hours: { zone: string; windows: ({ days: ("mon" | "tue" | "wed" | "thu" | "fri" | "sat" | "sun" | (string & {}))[]; from: string; to: string })[] } | null; hours_end: "sessions" | "logins" | (string & {}); on_request: { rule: "self" | "sponsor" | "review" | (string & {}); max_hours: number; groups?: (string)[] } | null; access: "open" | "not_yet" | "outside_hours" | "on_request" | "closed" | (string & {}); access_changes_at: string | null; disabled_at: string | null; welcome: "pending" | "sent" | (string & {}); created_at: string; updated_at: string; terms?: { version: string; pending: boolean; accepted_version: string; accepted_at: string | null } };
    reason: "database.full" | "internal" | "login.factor_needed" | "rate.limited" | "request.invalid" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong" | "user.missing";
  };
  /** Create the users of a file. */
  importUsers: {
    route: "POST /users/import";
    input: { query?: { preview?: "true" | "false"; only_good?: "true" | "false"; mail?: "true" | "false" }; body: string };
    answer: { preview: true; users: number; ignored: (string)[]; faults: { existing: number; faulty: number; total: number; items: ({ line: number; column: string; error: string; reason: "request.invalid" | "request.origin" | "request.too_slow" | "request.too_large" | "route.unknown" | "route.method" | "rate.limited" | "rate.refused" | "rate.changes" | "service.busy" | "service.not_ready" | "database.full" | "session.missing" | "session.wrong_kind" | "role.insufficient" | "permission.missing" | "login.wrong" | "login.second_factor" | "login.code_wrong" | "login.passkey_wrong" | "login.passkey_only" | "login.factor_needed" | "login.not_recent" | "login.locked" | "captcha.wrong" | "code.wrong" | "code.cooldown" | "reset.wrong" | "password.wrong" | "password.weak" | "sso.off" | "sso.expired" | "sso.refused" | "sso.unavailable" | "sso.invalid" | "sso.role" | "sso.email" | "sso.removed" | "sso.managed" | "passkey.invalid" | "passkey.taken" | "passkey.limit" | "passkey.missing" | "passkey.unavailable" | "totp.wrong" | "totp.expired" | "totp.taken" | "totp.missing" | "factor.last" | "token.wrong" | "token.revoked" | "token.expired" | "token.network" | "token.misplaced" | "token.not_allowed" | "token.missing" | "token.limit" | "token.made" | "admin.missing" | "admin.taken" | "admin.last_owner" | "user.missing" | "user.taken" | "user.expired" | "user.recycled" | "user.not_active" | "terms.pending" | "terms.changed" | "terms.none" | "user.welcomed" | "user.disabling" | "user.shortening" | "user.deleting" | "user.changed" | "user.started" | "user.too_late" | "account.missing" | "account.foreign" | "account.group" | "account.taken" | "key.missing" | "key.duplicate" | "key.private" | "key.format" | "key.type" | "key.weak" | "key.attestation_missing" | "key.attestation_wrong" | "key.challenge" | "key.limit" | "network.invalid" | "network.wider" | "application.missing" | "application.reviewed" | "access.not_on_request" | "access.outside_hours" | "access.fresh_login" | "access.limit" | "access.hosts" | "access.pending" | "extension.pending" | "application.limit" | "connection.missing" | "agent.unknown" | "agent.stale" | "agent.repeated" | "agent.version" | "agent.busy" | "agent.no_head" | "host_token.wrong" | "host.key_taken" | "host.uids" | "setting.missing" | "setting.too_short" | "webhook.missing" | "webhook.limit" | "webhook.address" | "webhook.record_gone" | "delivery.missing" | "resource.missing" | "state.conflict" | "host.missing" | "host.taken" | "host.local" | "host.retiring" | "host.unreachable" | "host_group.missing" | "host_group.taken" | "host_group.used" | "company.missing" | "company.taken" | "company.used" | "company.full" | "company.ended" | "company.not_manager" | "company.limit" | "profile.missing" | "profile.taken" | "profile.used" | "profile.mode" | "profile.incomparable" | "profile.attestation" | "profile.refused" | "review.missing" | "review.empty" | "review.answered" | "review.closed" | "review.open" | "review.self" | "sponsor.missing" | "sponsor.invalid" | "sponsor.pending" | "decision.missing" | "decision.answered" | "decision.closed" | "grant.last" | "host.refused" | "access.owed" | "audit.unrecorded" | "internal" | (string & {}) })[] }; good: number; items: ({ line: number; username: string; email: string; expire_at: string })[] } | { users: number; ignored: (string)[]; faults: { existing: number; faulty: number; total: number; items: ({ line: number; column: string; error: string; reason: "request.invalid" | "request.origin" | "request.too_slow" | "request.too_large" | "route.unknown" | "route.method" | "rate.limited" | "rate.refused" | "rate.changes" | "service.busy" | "service.not_ready" | "database.full" | "session.missing" | "session.wrong_kind" | "role.insufficient" | "permission.missing" | "login.wrong" | "login.second_factor" | "login.code_wrong" | "login.passkey_wrong" | "login.passkey_only" | "login.factor_needed" | "login.not_recent" | "login.locked" | "captcha.wrong" | "code.wrong" | "code.cooldown" | "reset.wrong" | "password.wrong" | "password.weak" | "sso.off" | "sso.expired" | "sso.refused" | "sso.unavailable" | "sso.invalid" | "sso.role" | "sso.email" | "sso.removed" | "sso.managed" | "passkey.invalid" | "passkey.taken" | "passkey.limit" | "passkey.missing" | "passkey.unavailable" | "totp.wrong" | "totp.expired" | "totp.taken" | "totp.missing" | "factor.last" | "token.wrong" | "token.revoked" | "token.expired" | "token.network" | "token.misplaced" | "token.not_allowed" | "token.missing" | "token.limit" | "token.made" | "admin.missing" | "admin.taken" | "admin.last_owner" | "user.missing" | "user.taken" | "user.expired" | "user.recycled" | "user.not_active" | "terms.pending" | "terms.changed" | "terms.none" | "user.welcomed" | "user.disabling" | "user.shortening" | "user.deleting" | "user.changed" | "user.started" | "user.too_late" | "account.missing" | "account.foreign" | "account.group" | "account.taken" | "key.missing" | "key.duplicate" | "key.private" | "key.format" | "key.type" | "key.weak" | "key.attestation_missing" | "key.attestation_wrong" | "key.challenge" | "key.limit" | "network.invalid" | "network.wider" | "application.missing" | "application.reviewed" | "access.not_on_request" | "access.outside_hours" | "access.fresh_login" | "access.limit" | "access.hosts" | "access.pending" | "extension.pending" | "application.limit" | "connection.missing" | "agent.unknown" | "agent.stale" | "agent.repeated" | "agent.version" | "agent.busy" | "agent.no_head" | "host_token.wrong" | "host.key_taken" | "host.uids" | "setting.missing" | "setting.too_short" | "webhook.missing" | "webhook.limit" | "webhook.address" | "webhook.record_gone" | "delivery.missing" | "resource.missing" | "state.conflict" | "host.missing" | "host.taken" | "host.local" | "host.retiring" | "host.unreachable" | "host_group.missing" | "host_group.taken" | "host_group.used" | "company.missing" | "company.taken" | "company.used" | "company.full" | "company.ended" | "company.not_manager" | "company.limit" | "profile.missing" | "profile.taken" | "profile.used" | "profile.mode" | "profile.incomparable" | "profile.attestation" | "profile.refused" | "review.missing" | "review.empty" | "review.answered" | "review.closed" | "review.open" | "review.self" | "sponsor.missing" | "sponsor.invalid" | "sponsor.pending" | "decision.missing" | "decision.answered" | "decision.closed" | "grant.last" | "host.refused" | "access.owed" | "audit.unrecorded" | "internal" | (string & {}) })[] }; created: number; items: ({ id: number; username: string; expire_at: string })[] };
    reason: "account.foreign" | "account.group" | "account.missing" | "account.taken" | "audit.unrecorded" | "database.full" | "host.refused" | "internal" | "login.factor_needed" | "network.invalid" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.busy" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong" | "user.taken";
  };
  /** Add an administrator and mail them a link that sets their password. */
  inviteAdmin: {
    route: "POST /admins";
    input: { body: { username: string; email: string; role?: "owner" | "operator" | "reviewer" | "auditor"; password?: string; passkey?: { id: string; rawId: string; type: "public-key"; response: { clientDataJSON: string; authenticatorData: string; signature: string; userHandle?: string | null } } } };
    answer: { id: number; username: string; email: string; role: "owner" | "operator" | "reviewer" | "auditor" | (string & {}); status: "active" | "invited" | (string & {}); sso: boolean; passkeys: number; totp: boolean; factor_missing: boolean; created_at: string; last_login_at: string | null };
    reason: "admin.taken" | "audit.unrecorded" | "database.full" | "internal" | "login.factor_needed" | "login.locked" | "login.not_recent" | "login.passkey_wrong" | "password.wrong" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.busy" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.not_allowed" | "token.revoked" | "token.wrong";
  };
  /** Find out who could log in at a moment of the past. */
  listAccess: {
    route: "GET /access";
    input: { query?: { page?: number; page_size?: number; at?: string; host?: string; company?: string } };
    answer: { at: string; total: number; items: ({ user_id: number; username: string; deleted: boolean; host: string; until: string; fingerprints: (string)[]; decided_by: string; profile: string })[]; complete_from: string | null; unknown: number };
    reason: "audit.unrecorded" | "database.full" | "internal" | "login.factor_needed" | "rate.limited" | "request.invalid" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.busy" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong";
  };
  /** List administrators. */
  listAdmins: {
    route: "GET /admins";
    input: { query?: { page?: number; page_size?: number } };
    answer: { total: number; items: ({ id: number; username: string; email: string; role: "owner" | "operator" | "reviewer" | "auditor" | (string & {}); status: "active" | "invited" | (string & {}); sso: boolean; passkeys: number; totp: boolean; factor_missing: boolean; created_at: string; last_login_at: string | null })[] };
    reason: "database.full" | "internal" | "login.factor_needed" | "rate.limited" | "request.invalid" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong";
  };
  /** List applications and users' requests. */
  listApplications: {
    route: "GET /approvals";
    input: { query?: { page?: number; page_size?: number; status?: "pending" | "approved" | "rejected"; kind?: "access" | "extension" | "access_request"; user_id?: number; sort?: "created_at" | "-created_at" } };
    answer: { total: number; items: ({ id: number; kind: "access" | "extension" | "access_request" | (string & {}); user_id: number | null; days: number | null; hours: number | null; hosts: (string)[] | null; end_when_asked: string | null; username: string; email: string; full_name: string; supervisor: string; purpose: string; company_id: number | null; requested_by: string; hours_wish: string; sponsor_email: string; sponsor_answer: "none" | "asked" | "vouched" | "declined" | (string & {}); sponsor_reason: string; status: "pending" | "approved" | "rejected" | (string & {}); reason: string; reviewed_by: string; reviewed_at: string | null; created_at: string })[] };
    reason: "database.full" | "internal" | "login.factor_needed" | "rate.limited" | "request.invalid" | "request.too_large" | "request.too_slow" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong";
  };
  /** Read the audit log. */
  listAudit: {
    route: "GET /audit";
    input: { query?: { page?: number; page_size?: number; q?: string; actor?: string; action?: "auth.admin_login" | "auth.admin_password_only" | "auth.changes_refused" | "auth.otp_send" | "auth.otp_login" | "auth.logout" | "auth.sso_logout" | "auth.admin_forgot" | "auth.admin_reset" | "auth.admin_password" | "auth.passkey_add" | "auth.passkey_rename" | "auth.passkey_remove" | "auth.totp_add" | "auth.totp_remove" | "user.create" | "user.update" | "user.disable" | "user.enable" | "user.extend" | "user.shorten" | "user.delete" | "user.lock" | "user.export" | "user.adopt" | "user.give_back" | "user.welcome" | "user.terms" | "extension.request" | "extension.withdraw" | "session.end" | "user.end_sessions" | "key.create" | "key.confirm" | "key.dismiss" | "key.rename" | "key.update" | "key.revoke" | "approval.submit" | "approval.review" | "settings.update" | "lifecycle.expire" | "lifecycle.recycle" | "access.window" | "access.request" | "access.allow" | "access.refuse" | "access.end" | "admin.create" | "admin.update" | "admin.remove" | "admin.readmit" | "admin.end_sessions" | "token.create" | "token.revoke" | "webhook.create" | "webhook.update" | "webhook.delete" | "reconcile.repair" | "audit.purge" | "audit.export" | "audit.read" | "service.backup" | "service.restore" | "host.enrol" | "host.lock" | "host.unlock" | "host.update" | "host.retire" | "host.forget" | "host.rotate" | "host.drift" | "host.hold" | "host_token.create" | "host_group.create" | "host_group.update" | "host_group.delete" | "user.grant" | "fleet.confirmed" | "fleet.diverged" | "fleet.accept" | "company.create" | "company.update" | "company.delete" | "company.end" | "company.resume" | "profile.create" | "profile.update" | "profile.delete" | "review.start" | "review.answer" | "review.unanswered" | "review.close" | "sponsor.vouch" | "sponsor.decline" | "sponsor.end" | "sponsor.move"; resource_type?: "user" | "ssh_key" | "setting" | "admin" | "token" | "webhook" | "host" | "host_group" | "fleet" | "company" | "review" | "profile"; resource_id?: string; result?: "success" | "failed"; user_id?: number; since?: string; until?: string } };
    answer: { total: number; items: ({ id: number; created_at: string; actor_type: "admin" | "user" | "cli" | "system" | "anonymous" | "token" | "sponsor" | (string & {}); actor: string; action: "auth.admin_login" | "auth.admin_password_only" | "auth.changes_refused" | "auth.otp_send" | "auth.otp_login" | "auth.logout" | "auth.sso_logout" | "auth.admin_forgot" | "auth.admin_reset" | "auth.admin_password" | "auth.passkey_add" | "auth.passkey_rename" | "auth.passkey_remove" | "auth.totp_add" | "auth.totp_remove" | "user.create" | "user.update" | "user.disable" | "user.enable" | "user.extend" | "user.shorten" | "user.delete" | "user.lock" | "user.export" | "user.adopt" | "user.give_back" | "user.welcome" | "user.terms" | "extension.request" | "extension.withdraw" | "session.end" | "user.end_sessions" | "key.create" | "key.confirm" | "key.dismiss" | "key.rename" | "key.update" | "key.revoke" | "approval.submit" | "approval.review" | "settings.update" | "lifecycle.expire" | "lifecycle.recycle" | "access.window" | "access.request" | "access.allow" | "access.refuse" | "access.end" | "admin.create" | "admin.update" | "admin.remove" | "admin.readmit" | "admin.end_sessions" | "token.create" | "token.revoke" | "webhook.create" | "webhook.update" | "webhook.delete" | "reconcile.repair" | "audit.purge" | "audit.export" | "audit.read" | "service.backup" | "service.restore" | "host.enrol" | "host.lock" | "host.unlock" | "host.update" | "host.retire" | "host.forget" | "host.rotate" | "host.drift" | "host.hold" | "host_token.create" | "host_group.create" | "host_group.update" | "host_group.delete" | "user.grant" | "fleet.confirmed" | "fleet.diverged" | "fleet.accept" | "company.create" | "company.update" | "company.delete" | "company.end" | "company.resume" | "profile.create" | "profile.update" | "profile.delete" | "review.start" | "review.answer" | "review.unanswered" | "review.close" | "sponsor.vouch" | "sponsor.decline" | "sponsor.end" | "sponsor.move" | (string & {}); resource_type: "user" | "ssh_key" | "setting" | "admin" | "token" | "webhook" | "host" | "host_group" | "fleet" | "company" | "review" | "profile" | "" | (string & {}); resource_id: string; detail: string; result: "success" | "failed" | (string & {}); ip: string })[]; searched?: { records: number; since: string | null; complete: boolean } };
    reason: "audit.unrecorded" | "database.full" | "internal" | "login.factor_needed" | "rate.limited" | "request.invalid" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong";
  };
  /** List the people of the company that you manage. */
  listColleagues: {
    route: "GET /me/company/users";
    input: { query?: { page?: number; page_size?: number } };
    answer: { total: number; items: ({ id: number; username: string; full_name: string; manager: boolean; status: "active" | "disabled" | "expired" | (string & {}); expire_at: string; last_login_at: string | null; last_key_use_at: string | null })[] };
    reason: "company.not_manager" | "database.full" | "internal" | "rate.limited" | "request.invalid" | "request.too_large" | "request.too_slow" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong" | "user.missing";
  };
  /** List companies. */
  listCompanies: {
    route: "GET /companies";
    input: { query?: { page?: number; page_size?: number; q?: string } };
    answer: { total: number; items: ({ id: number; name: string; contract_end: string | null; max_users: number | null; max_ttl_days: number | null; source_networks: (string)[]; host_groups: (string)[]; hours: { zone: string; windows: ({ days: ("mon" | "tue" | "wed" | "thu" | "fri" | "sat" | "sun" | (string & {}))[]; from: string; to: string })[] } | null; sponsor_email: string; status: "active" | "ending" | "ended" | (string & {}); users: number; narrowing: boolean; created_at: string; updated_at: string })[] };
    reason: "database.full" | "internal" | "login.factor_needed" | "rate.limited" | "request.invalid" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong";
  };
  /** The attempts to deliver something to a webhook. */
  listDeliveries: {
    route: "GET /webhooks/{id}/deliveries";
    input: { path: { id: number }; query?: { page?: number; page_size?: number } };
    answer: { total: number; items: ({ id: number; message_id: string; type: "auth.admin_login" | "auth.admin_password_only" | "auth.changes_refused" | "auth.otp_send" | "auth.otp_login" | "auth.logout" | "auth.sso_logout" | "auth.admin_forgot" | "auth.admin_reset" | "auth.admin_password" | "auth.passkey_add" | "auth.passkey_rename" | "auth.passkey_remove" | "auth.totp_add" | "auth.totp_remove" | "user.create" | "user.update" | "user.disable" | "user.enable" | "user.extend" | "user.shorten" | "user.delete" | "user.lock" | "user.export" | "user.adopt" | "user.give_back" | "user.welcome" | "user.terms" | "extension.request" | "extension.withdraw" | "session.end" | "user.end_sessions" | "key.create" | "key.confirm" | "key.dismiss" | "key.rename" | "key.update" | "key.revoke" | "approval.submit" | "approval.review" | "settings.update" | "lifecycle.expire" | "lifecycle.recycle" | "access.window" | "access.request" | "access.allow" | "access.refuse" | "access.end" | "admin.create" | "admin.update" | "admin.remove" | "admin.readmit" | "admin.end_sessions" | "token.create" | "token.revoke" | "webhook.create" | "webhook.update" | "webhook.delete" | "reconcile.repair" | "audit.purge" | "audit.export" | "audit.read" | "service.backup" | "service.restore" | "host.enrol" | "host.lock" | "host.unlock" | "host.update" | "host.retire" | "host.forget" | "host.rotate" | "host.drift" | "host.hold" | "host_token.create" | "host_group.create" | "host_group.update" | "host_group.delete" | "user.grant" | "fleet.confirmed" | "fleet.diverged" | "fleet.accept" | "company.create" | "company.update" | "company.delete" | "company.end" | "company.resume" | "profile.create" | "profile.update" | "profile.delete" | "review.start" | "review.answer" | "review.unanswered" | "review.close" | "sponsor.vouch" | "sponsor.decline" | "sponsor.end" | "sponsor.move" | "webhook.ping" | (string & {}); attempt: number; status: "delivered" | "failed" | (string & {}); error: string; at: string })[] };
    reason: "database.full" | "internal" | "login.factor_needed" | "rate.limited" | "request.invalid" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong" | "webhook.missing";
  };
  /** List the keys that were found when a user's account was adopted. */
  listFoundKeys: {
    route: "GET /users/{id}/found-keys";
    input: { path: { id: number } };
    answer: { items: ({ fingerprint: string; type: string; options: string; comment: string; found_in: string; status: "found" | "stored" | "dismissed" | (string & {}); refusal: string })[] };
    reason: "database.full" | "internal" | "login.factor_needed" | "rate.limited" | "request.invalid" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong" | "user.missing";
  };
  /** List groups of hosts. */
  listHostGroups: {
    route: "GET /host-groups";
    input: {  };
    answer: { items: ({ id: number; name: string; hosts: (string)[]; users: number; lease: string | null; hours: { zone: string; windows: ({ days: ("mon" | "tue" | "wed" | "thu" | "fri" | "sat" | "sun" | (string & {}))[]; from: string; to: string })[] } | null; profile: string | null; for_new_users: boolean; created_at: string })[] };
    reason: "database.full" | "internal" | "login.factor_needed" | "rate.limited" | "request.invalid" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong";
  };
  /** List the users with an account on a host. */
  listHostUsers: {
    route: "GET /hosts/{id}/users";
    input: { path: { id: number }; query?: { page?: number; page_size?: number } };
    answer: { total: number; items: ({ id: number; username: string; full_name: string; status: "active" | "disabled" | "expired" | (string & {}); expire_at: string; group: string; state: "applied" | "pending" | "problem" | (string & {}); since: string; removing: boolean; problem: string; sessions: number | null })[] };
    reason: "database.full" | "host.missing" | "internal" | "login.factor_needed" | "rate.limited" | "request.invalid" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong";
  };
  /** List hosts. */
  listHosts: {
    route: "GET /hosts";
    input: { query?: { page?: number; page_size?: number; q?: string; group?: string; status?: "active" | "locked" | "retiring" } };
    answer: { total: number; items: ({ id: number; name: string; kind: "local" | "remote" | (string & {}); status: "active" | "locked" | "retiring" | (string & {}); groups: (string)[]; ssh_host: string; ssh_port: number; lease: string | null; own_lease: string | null; lease_ends: "logins" | "sessions" | (string & {}); lease_until: string | null; enrolled_at: string; last_seen_at: string | null; mode: string; version: string; clock_offset_ms: number; problems: number })[] };
    reason: "database.full" | "internal" | "login.factor_needed" | "rate.limited" | "request.invalid" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong";
  };
  /** Read your own audit trail. */
  listOwnAudit: {
    route: "GET /me/audit";
    input: { query?: { page?: number; page_size?: number } };
    answer: { total: number; items: ({ id: number; created_at: string; actor_type: "admin" | "user" | "cli" | "system" | "anonymous" | "token" | "sponsor" | (string & {}); actor: string; action: "auth.admin_login" | "auth.admin_password_only" | "auth.changes_refused" | "auth.otp_send" | "auth.otp_login" | "auth.logout" | "auth.sso_logout" | "auth.admin_forgot" | "auth.admin_reset" | "auth.admin_password" | "auth.passkey_add" | "auth.passkey_rename" | "auth.passkey_remove" | "auth.totp_add" | "auth.totp_remove" | "user.create" | "user.update" | "user.disable" | "user.enable" | "user.extend" | "user.shorten" | "user.delete" | "user.lock" | "user.export" | "user.adopt" | "user.give_back" | "user.welcome" | "user.terms" | "extension.request" | "extension.withdraw" | "session.end" | "user.end_sessions" | "key.create" | "key.confirm" | "key.dismiss" | "key.rename" | "key.update" | "key.revoke" | "approval.submit" | "approval.review" | "settings.update" | "lifecycle.expire" | "lifecycle.recycle" | "access.window" | "access.request" | "access.allow" | "access.refuse" | "access.end" | "admin.create" | "admin.update" | "admin.remove" | "admin.readmit" | "admin.end_sessions" | "token.create" | "token.revoke" | "webhook.create" | "webhook.update" | "webhook.delete" | "reconcile.repair" | "audit.purge" | "audit.export" | "audit.read" | "service.backup" | "service.restore" | "host.enrol" | "host.lock" | "host.unlock" | "host.update" | "host.retire" | "host.forget" | "host.rotate" | "host.drift" | "host.hold" | "host_token.create" | "host_group.create" | "host_group.update" | "host_group.delete" | "user.grant" | "fleet.confirmed" | "fleet.diverged" | "fleet.accept" | "company.create" | "company.update" | "company.delete" | "company.end" | "company.resume" | "profile.create" | "profile.update" | "profile.delete" | "review.start" | "review.answer" | "review.unanswered" | "review.close" | "sponsor.vouch" | "sponsor.decline" | "sponsor.end" | "sponsor.move" | (string & {}); resource_type: "user" | "ssh_key" | "setting" | "admin" | "token" | "webhook" | "host" | "host_group" | "fleet" | "company" | "review" | "profile" | "" | (string & {}); resource_id: string; detail: string; result: "success" | "failed" | (string & {}); ip: string })[] };
    reason: "database.full" | "internal" | "rate.limited" | "request.invalid" | "request.too_large" | "request.too_slow" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong";
  };
  /** Where you have an account, and how to connect. */
  listOwnHosts: {
    route: "GET /me/hosts";
    input: {  };
    answer: { items: ({ name: string; state: "applied" | "pending" | "problem" | (string & {}); ssh: { host: string; port: number; host_keys: (string)[]; command: string; profile?: { kind: "shell" | "sftp" | "forward" | "command" | (string & {}); means: string; commands: (string)[]; second_factor: "none" | "verified" | (string & {}); attestation: "none" | "required" | (string & {}) }; config: string; known_hosts: (string)[] } | null })[] };
    reason: "database.full" | "internal" | "rate.limited" | "request.invalid" | "request.too_large" | "request.too_slow" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong";
  };
  /** List your own active keys. */
  listOwnKeys: {
    route: "GET /me/keys";
    input: {  };
    answer: { items: ({ id: number; name: string; type: string; bits: number; fingerprint: string; public_key: string; model: string | null; aaguid: string | null; source_networks: (string)[]; status: "active" | "revoked" | (string & {}); created_at: string; revoked_at: string | null; last_used_at: string | null; last_used_from: string })[] };
    reason: "database.full" | "internal" | "rate.limited" | "request.invalid" | "request.too_large" | "request.too_slow" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong" | "user.missing";
  };
  /** List one's own passkeys. */
  listPasskeys: {
    route: "GET /auth/passkeys";
    input: {  };
    answer: { items: ({ id: number; name: string; backed_up: boolean; created_at: string; last_used_at: string | null })[] };
    reason: "database.full" | "internal" | "rate.limited" | "request.invalid" | "request.too_large" | "request.too_slow" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.not_allowed" | "token.revoked" | "token.wrong";
  };
  /** Access that is still to be taken away, and receivers that are away. */
  listProblems: {
    route: "GET /admin/problems";
    input: { query?: { page?: number; page_size?: number } };
    answer: { total: number; items: ({ id: number; user_id: number; username: string; kind: "shut" | "remove" | "revoke" | "narrow" | "shorten" | "leave" | "profile" | (string & {}); since: string; attempts: number; next_attempt_at: string; problem: string })[]; receivers: ({ kind: "webhook" | "stream" | (string & {}); id: number | null; name: string; since: string | null; lag: number; problem: string })[]; hosts?: { total: number; items: ({ host: string; account: string; kind: "conflict" | "missing" | "refused" | "drift" | "finding" | "silent" | "lease_ended" | "diverged" | "unknown" | "clock" | "no_lease" | "locked" | "profile" | (string & {}); text: string; since: string })[] } };
    reason: "database.full" | "internal" | "login.factor_needed" | "rate.limited" | "request.invalid" | "request.too_large" | "request.too_slow" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong";
  };
  /** List profiles. */
  listProfiles: {
    route: "GET /profiles";
    input: {  };
    answer: { items: ({ id: number; name: string; kind: "shell" | "sftp" | "forward" | "command" | (string & {}); directory: string | null; read_only: boolean; umask: string | null; targets: (string)[]; forwarding: boolean | (string)[]; command: string | null; idle: string | null; max_sessions: number | null; second_factor: "none" | "verified" | (string & {}); attestation: "none" | "required" | (string & {}); groups: (string)[]; sudo: (string)[]; banner: string | null; users: number })[] };
    reason: "database.full" | "internal" | "login.factor_needed" | "rate.limited" | "request.invalid" | "request.too_large" | "request.too_slow" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong";
  };
  /** List people who may not come in again by single sign-on. */
  listRemovedAdmins: {
    route: "GET /removed-admins";
    input: { query?: { page?: number; page_size?: number } };
    answer: { total: number; items: ({ id: number; username: string; issuer: string; subject: string; created_at: string })[] };
    reason: "database.full" | "internal" | "login.factor_needed" | "rate.limited" | "request.invalid" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong";
  };
  /** List the users that a review is about. */
  listReviewItems: {
    route: "GET /reviews/{id}/items";
    input: { path: { id: number }; query?: { page?: number; page_size?: number; answered?: "true" | "false" } };
    answer: { total: number; items: ({ user_id: number; username: string; answer: "keep" | "end" | "shorten" | "unanswered" | "gone" | (string & {}) | null; grace_until: string | null; until: string | null; reason: string; answered_at: string | null; answered_by_type: "admin" | "user" | "cli" | "system" | "anonymous" | "token" | "sponsor" | (string & {}) | null; answered_by: string; answered_from: string; asked?: string; record: number | null; evidence: { status: "active" | "disabled" | "expired" | (string & {}); full_name: string; email: string; supervisor: string; purpose: string; company: string; expire_at: string; hosts: (string)[]; groups: (string)[]; source_networks: (string)[]; hours?: string; profile?: string; keys: ({ name: string; fingerprint: string; created_at: string; last_used_at: string | null; last_used_from: string })[]; last_login_at: string | null; logins: number; logins_since: string; created_at: string; created_by: string; extended_at: string | null; extended_by: string; extended_because: string; drift: (string)[] } | null })[] };
    reason: "database.full" | "internal" | "login.factor_needed" | "rate.limited" | "request.invalid" | "request.too_large" | "request.too_slow" | "review.missing" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong";
  };
  /** List reviews. */
  listReviews: {
    route: "GET /reviews";
    input: { query?: { page?: number; page_size?: number } };
    answer: { total: number; items: ({ id: number; scope: "all" | (string & {}) | { company: number } | { host_group: number } | { sponsor: string }; scope_name: string; status: "open" | "closed" | (string & {}); started_at: string; due_at: string; closed_at: string | null; unanswered_way: "disable" | "report" | (string & {}); total: number; kept: number; ended: number; shortened: number; unanswered: number })[] };
    reason: "database.full" | "internal" | "login.factor_needed" | "rate.limited" | "request.invalid" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong";
  };
  /** List the settings. */
  listSettings: {
    route: "GET /settings";
    input: {  };
    answer: { items: ({ key: "policy.default_ttl" | "policy.recycle_period" | "policy.audit_retention" | "policy.review_every" | "policy.inactive_after" | (string & {}); value: string; overridden: boolean; pending?: { value: string; at: string } })[] };
    reason: "database.full" | "internal" | "login.factor_needed" | "rate.limited" | "request.invalid" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong";
  };
  /** List who answers for users. */
  listSponsors: {
    route: "GET /sponsors";
    input: { query?: { page?: number; page_size?: number } };
    answer: { total: number; items: ({ email: string; users: number; last_answer_at: string | null; undeliverable: boolean })[] };
    reason: "database.full" | "internal" | "login.factor_needed" | "rate.limited" | "request.invalid" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong";
  };
  /** List the supervisors that users have. */
  listSupervisors: {
    route: "GET /users/supervisors";
    input: { query?: { q?: string } };
    answer: { items: ({ supervisor: string; users: number })[] };
    reason: "database.full" | "internal" | "login.factor_needed" | "rate.limited" | "request.invalid" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong";
  };
  /** List tokens for machines. */
  listTokens: {
    route: "GET /tokens";
    input: { query?: { page?: number; page_size?: number } };
    answer: { total: number; items: ({ id: number; name: string; role: "owner" | "operator" | "reviewer" | "auditor" | (string & {}); prefix: string; owner: string; made_by: number | null; networks: (string)[]; created_at: string; expires_at: string; last_used_at: string | null; last_used_from: string; revoked_at: string | null; status: "active" | "expired" | "revoked" | (string & {}) })[] };
    reason: "database.full" | "internal" | "login.factor_needed" | "rate.limited" | "request.invalid" | "request.too_large" | "request.too_slow" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong";
  };
  /** Where a user has an account. */
  listUserHosts: {
    route: "GET /users/{id}/hosts";
    input: { path: { id: number } };
    answer: { hosts: (string)[]; groups: (string)[]; taken?: { total: number; confirmed: number; pending: (string)[]; effective_by: string | null }; items: ({ host: string; group: string; state: "applied" | "pending" | "problem" | (string & {}); since: string; removing: boolean; problem: string; lease_until: string | null })[] };
    reason: "database.full" | "internal" | "login.factor_needed" | "rate.limited" | "request.invalid" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong" | "user.missing";
  };
  /** List when a user's access is open. */
  listUserHours: {
    route: "GET /users/{id}/hours";
    input: { path: { id: number }; query?: { host?: string; from?: string; to?: string } };
    answer: { zone: string | null; windows: ({ from: string; to: string })[] };
    reason: "database.full" | "host.missing" | "internal" | "login.factor_needed" | "rate.limited" | "request.invalid" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong" | "user.missing";
  };
  /** List a user's active keys. */
  listUserKeys: {
    route: "GET /users/{id}/keys";
    input: { path: { id: number } };
    answer: { items: ({ id: number; name: string; type: string; bits: number; fingerprint: string; public_key: string; model: string | null; aaguid: string | null; source_networks: (string)[]; status: "active" | "revoked" | (string & {}); created_at: string; revoked_at: string | null; last_used_at: string | null; last_used_from: string })[] };
    reason: "database.full" | "internal" | "login.factor_needed" | "rate.limited" | "request.invalid" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong" | "user.missing";
  };
  /** List a user's open SSH logins. */
  listUserSessions: {
    route: "GET /users/{id}/sessions";
    input: { path: { id: number } };
    answer: { items: ({ id: string; since: string; from: string; key: { id: number; name: string; fingerprint: string } | null })[] };
    reason: "database.full" | "host.refused" | "internal" | "login.factor_needed" | "rate.limited" | "request.invalid" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong" | "user.missing";
  };
  /** List external users. */
  listUsers: {
    route: "GET /users";
    input: { query?: { page?: number; page_size?: number; status?: "active" | "disabled" | "expired"; access?: "open" | "not_yet" | "outside_hours" | "on_request" | "closed"; supervisor?: string; q?: string; welcome?: "pending"; company?: number; sponsor?: string; terms?: "pending" | "overdue"; last_used?: "never"; silent_for?: string; sort?: "created_at" | "-created_at" | "username" | "-username" | "expire_at" | "-expire_at" } };
    answer: { total: number; items: ({ id: number; username: string; host_account: string; email: string; full_name: string; supervisor: string; purpose: string; note: string; source_networks: (string)[]; company_id: number | null; manager: boolean; sponsor_email: string; profile: string | null; status: "active" | "disabled" | "expired" | (string & {}); expire_at: string; starts_at: string | null; hours: { zone: string; windows: ({ days: ("mon" | "tue" | "wed" | "thu" | "fri" | "sat" | "sun" | (string & {}))[]; from: string; to: string })[] } | null; hours_end: "sessions" | "logins" | (string & {}); on_request: { rule: "self" | "sponsor" | "review" | (string & {}); max_hours: number; groups?: (string)[] } | null; access: "open" | "not_yet" | "outside_hours" | "on_request" | "closed" | (string & {}); access_changes_at: string | null; disabled_at: string | null; welcome: "pending" | "sent" | (string & {}); created_at: string; updated_at: string; last_login_at: string | null; active_keys: number; last_key_use_at: string | null })[] };
    reason: "database.full" | "internal" | "login.factor_needed" | "rate.limited" | "request.invalid" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong";
  };
  /** List webhooks, and how they are doing. */
  listWebhooks: {
    route: "GET /webhooks";
    input: { query?: { page?: number; page_size?: number } };
    answer: { total: number; items: ({ id: number; url: string; actions: ("auth.admin_login" | "auth.admin_password_only" | "auth.changes_refused" | "auth.otp_send" | "auth.otp_login" | "auth.logout" | "auth.sso_logout" | "auth.admin_forgot" | "auth.admin_reset" | "auth.admin_password" | "auth.passkey_add" | "auth.passkey_rename" | "auth.passkey_remove" | "auth.totp_add" | "auth.totp_remove" | "user.create" | "user.update" | "user.disable" | "user.enable" | "user.extend" | "user.shorten" | "user.delete" | "user.lock" | "user.export" | "user.adopt" | "user.give_back" | "user.welcome" | "user.terms" | "extension.request" | "extension.withdraw" | "session.end" | "user.end_sessions" | "key.create" | "key.confirm" | "key.dismiss" | "key.rename" | "key.update" | "key.revoke" | "approval.submit" | "approval.review" | "settings.update" | "lifecycle.expire" | "lifecycle.recycle" | "access.window" | "access.request" | "access.allow" | "access.refuse" | "access.end" | "admin.create" | "admin.update" | "admin.remove" | "admin.readmit" | "admin.end_sessions" | "token.create" | "token.revoke" | "webhook.create" | "webhook.update" | "webhook.delete" | "reconcile.repair" | "audit.purge" | "audit.export" | "audit.read" | "service.backup" | "service.restore" | "host.enrol" | "host.lock" | "host.unlock" | "host.update" | "host.retire" | "host.forget" | "host.rotate" | "host.drift" | "host.hold" | "host_token.create" | "host_group.create" | "host_group.update" | "host_group.delete" | "user.grant" | "fleet.confirmed" | "fleet.diverged" | "fleet.accept" | "company.create" | "company.update" | "company.delete" | "company.end" | "company.resume" | "profile.create" | "profile.update" | "profile.delete" | "review.start" | "review.answer" | "review.unanswered" | "review.close" | "sponsor.vouch" | "sponsor.decline" | "sponsor.end" | "sponsor.move" | (string & {}))[]; status: "active" | "disabled" | (string & {}); created_at: string; made_by: string; maker_removed: boolean; lag: number; failing_since: string | null; last_error: string; last_delivered_at: string | null })[]; stream: { target: string; lag: number; failing_since: string | null; last_error: string; last_delivered_at: string | null } | null };
    reason: "database.full" | "internal" | "login.factor_needed" | "rate.limited" | "request.invalid" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong";
  };
  /** Shut a host as a whole. */
  lockHost: {
    route: "POST /hosts/{id}/lock";
    input: { path: { id: number } };
    answer: { id: number; name: string; kind: "local" | "remote" | (string & {}); status: "active" | "locked" | "retiring" | (string & {}); groups: (string)[]; ssh_host: string; ssh_port: number; lease: string | null; own_lease: string | null; lease_ends: "logins" | "sessions" | (string & {}); lease_until: string | null; enrolled_at: string; last_seen_at: string | null; mode: string; version: string; clock_offset_ms: number; host_keys: (string)[]; accounts: { total: number; open: number }; problems: ({ host: string; account: string; kind: "conflict" | "missing" | "refused" | "drift" | "finding" | "silent" | "lease_ended" | "diverged" | "unknown" | "clock" | "no_lease" | "locked" | "profile" | (string & {}); text: string; since: string })[]; profiles: ({ name: string; state: "applied" | "problem" | (string & {}); problem: string })[] };
    reason: "audit.unrecorded" | "database.full" | "host.local" | "host.missing" | "host.retiring" | "internal" | "login.factor_needed" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong";
  };
  /** Shut your own account: this was not me. */
  lockOwnAccount: {
    route: "POST /me/lock";
    input: {  };
    answer: { status: "disabled" | "expired" | (string & {}); hosts?: { total: number; confirmed: number; pending: (string)[]; effective_by: string | null } };
    reason: "access.owed" | "audit.unrecorded" | "database.full" | "internal" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong" | "user.deleting" | "user.missing" | "user.not_active";
  };
  /** Log in as an administrator. */
  loginAdmin: {
    route: "POST /auth/admin/login";
    input: { body: { username: string; password: string; captcha_id?: string; captcha_code?: string; code?: string; passkey?: { id: string; rawId: string; type: "public-key"; response: { clientDataJSON: string; authenticatorData: string; signature: string; userHandle?: string | null } } } };
    answer: { user_type: "admin" | "user" | (string & {}); id: number; username: string; email: string; role?: "owner" | "operator" | "reviewer" | "auditor" | (string & {}); needs?: "second-factor" | "passkey" | (string & {}); token?: { id: number; name: string; expires_at: string } };
    reason: "audit.unrecorded" | "captcha.wrong" | "database.full" | "internal" | "login.code_wrong" | "login.locked" | "login.passkey_only" | "login.passkey_wrong" | "login.second_factor" | "login.wrong" | "rate.limited" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "service.busy" | "service.not_ready";
  };
  /** Log in as an external user with a one-time code. */
  loginWithCode: {
    route: "POST /auth/otp/login";
    input: { body: { username: string; code: string } };
    answer: { user_type: "admin" | "user" | (string & {}); id: number; username: string; email: string; role?: "owner" | "operator" | "reviewer" | "auditor" | (string & {}); needs?: "second-factor" | "passkey" | (string & {}); token?: { id: number; name: string; expires_at: string } };
    reason: "audit.unrecorded" | "code.cooldown" | "code.wrong" | "database.full" | "internal" | "login.locked" | "rate.limited" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "service.busy" | "service.not_ready";
  };
  /** Log in as an administrator with a passkey alone. */
  loginWithPasskey: {
    route: "POST /auth/passkey/login";
    input: { body: { passkey: { id: string; rawId: string; type: "public-key"; response: { clientDataJSON: string; authenticatorData: string; signature: string; userHandle?: string | null } } } };
    answer: { user_type: "admin" | "user" | (string & {}); id: number; username: string; email: string; role?: "owner" | "operator" | "reviewer" | "auditor" | (string & {}); needs?: "second-factor" | "passkey" | (string & {}); token?: { id: number; name: string; expires_at: string } };
    reason: "audit.unrecorded" | "database.full" | "internal" | "login.passkey_wrong" | "passkey.unavailable" | "rate.limited" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "service.not_ready";
  };
  /** End the session. */
  logout: {
    route: "POST /auth/logout";
    input: {  };
    answer: { status: "logged_out" | (string & {}) };
    reason: "audit.unrecorded" | "database.full" | "internal" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "service.not_ready" | "session.missing" | "token.expired" | "token.misplaced" | "token.network" | "token.not_allowed" | "token.revoked" | "token.wrong";
  };
  /** End the sessions that ended at the provider. */
  logoutBySso: {
    route: "POST /auth/oidc/backchannel-logout";
    input: { body: string };
    answer: { status: "logged_out" | (string & {}) };
    reason: "audit.unrecorded" | "database.full" | "internal" | "rate.limited" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "service.not_ready" | "sso.invalid" | "sso.off" | "sso.unavailable";
  };
  /** See what the link in a mail asks. */
  lookAtDecision: {
    route: "POST /decisions/look";
    input: { body: { token: string } };
    answer: { kind: "vouch" | "end" | "review" | "access" | (string & {}); question: string; items: ({ id: number; username: string; evidence: ({ name: string; value: string })[] })[]; answered: ({ id: number; answer: string; reason: string; until: string | null; at: string })[] | null };
    reason: "audit.unrecorded" | "database.full" | "decision.closed" | "decision.missing" | "internal" | "rate.limited" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "service.not_ready";
  };
  /** Give all people of one sponsor to another. */
  moveSponsor: {
    route: "POST /sponsors/move";
    input: { query?: { preview?: "true" | "false" }; body: { from: string; to: string } };
    answer: { preview: true; effects: (string)[]; host: (string)[]; moved: number } | { moved: number };
    reason: "audit.unrecorded" | "database.full" | "internal" | "login.factor_needed" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "sponsor.invalid" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong";
  };
  /** Ask a webhook whether it answers. */
  pingWebhook: {
    route: "POST /webhooks/{id}/ping";
    input: { path: { id: number } };
    answer: { id: number; message_id: string; type: "auth.admin_login" | "auth.admin_password_only" | "auth.changes_refused" | "auth.otp_send" | "auth.otp_login" | "auth.logout" | "auth.sso_logout" | "auth.admin_forgot" | "auth.admin_reset" | "auth.admin_password" | "auth.passkey_add" | "auth.passkey_rename" | "auth.passkey_remove" | "auth.totp_add" | "auth.totp_remove" | "user.create" | "user.update" | "user.disable" | "user.enable" | "user.extend" | "user.shorten" | "user.delete" | "user.lock" | "user.export" | "user.adopt" | "user.give_back" | "user.welcome" | "user.terms" | "extension.request" | "extension.withdraw" | "session.end" | "user.end_sessions" | "key.create" | "key.confirm" | "key.dismiss" | "key.rename" | "key.update" | "key.revoke" | "approval.submit" | "approval.review" | "settings.update" | "lifecycle.expire" | "lifecycle.recycle" | "access.window" | "access.request" | "access.allow" | "access.refuse" | "access.end" | "admin.create" | "admin.update" | "admin.remove" | "admin.readmit" | "admin.end_sessions" | "token.create" | "token.revoke" | "webhook.create" | "webhook.update" | "webhook.delete" | "reconcile.repair" | "audit.purge" | "audit.export" | "audit.read" | "service.backup" | "service.restore" | "host.enrol" | "host.lock" | "host.unlock" | "host.update" | "host.retire" | "host.forget" | "host.rotate" | "host.drift" | "host.hold" | "host_token.create" | "host_group.create" | "host_group.update" | "host_group.delete" | "user.grant" | "fleet.confirmed" | "fleet.diverged" | "fleet.accept" | "company.create" | "company.update" | "company.delete" | "company.end" | "company.resume" | "profile.create" | "profile.update" | "profile.delete" | "review.start" | "review.answer" | "review.unanswered" | "review.close" | "sponsor.vouch" | "sponsor.decline" | "sponsor.end" | "sponsor.move" | "webhook.ping" | (string & {}); attempt: number; status: "delivered" | "failed" | (string & {}); error: string; at: string };
    reason: "audit.unrecorded" | "database.full" | "internal" | "login.factor_needed" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.busy" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong" | "webhook.missing";
  };
  /** Preview adding a host to a group. */
  previewHostGroup: {
    route: "GET /hosts/{id}/preview";
    input: { path: { id: number }; query: { group: string } };
    answer: { preview: true; effects: (string)[]; host: (string)[]; accounts: { opened: number; shut: number; removed: number } };
    reason: "database.full" | "host.missing" | "host.retiring" | "host_group.missing" | "internal" | "login.factor_needed" | "rate.limited" | "request.invalid" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong";
  };
  /** See whom a review would ask about. */
  previewReview: {
    route: "GET /reviews/preview";
    input: { query?: { company?: number; host_group?: number; sponsor?: string } };
    answer: { total: number; sponsors: number; sponsored: number };
    reason: "company.missing" | "database.full" | "host_group.missing" | "internal" | "login.factor_needed" | "rate.limited" | "request.invalid" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong";
  };
  /** Let somebody in again by single sign-on. */
  readmitAdmin: {
    route: "DELETE /removed-admins/{id}";
    input: { path: { id: number }; body?: { password?: string; passkey?: { id: string; rawId: string; type: "public-key"; response: { clientDataJSON: string; authenticatorData: string; signature: string; userHandle?: string | null } } } };
    answer: { status: "readmitted" | (string & {}) };
    reason: "admin.missing" | "audit.unrecorded" | "database.full" | "internal" | "login.factor_needed" | "login.locked" | "login.not_recent" | "login.passkey_wrong" | "password.wrong" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.busy" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.not_allowed" | "token.revoked" | "token.wrong";
  };
  /** Deliver something once more. */
  redeliver: {
    route: "POST /webhooks/{id}/deliveries/{deliveryId}/redeliver";
    input: { path: { id: number; deliveryId: number } };
    answer: { id: number; message_id: string; type: "auth.admin_login" | "auth.admin_password_only" | "auth.changes_refused" | "auth.otp_send" | "auth.otp_login" | "auth.logout" | "auth.sso_logout" | "auth.admin_forgot" | "auth.admin_reset" | "auth.admin_password" | "auth.passkey_add" | "auth.passkey_rename" | "auth.passkey_remove" | "auth.totp_add" | "auth.totp_remove" | "user.create" | "user.update" | "user.disable" | "user.enable" | "user.extend" | "user.shorten" | "user.delete" | "user.lock" | "user.export" | "user.adopt" | "user.give_back" | "user.welcome" | "user.terms" | "extension.request" | "extension.withdraw" | "session.end" | "user.end_sessions" | "key.create" | "key.confirm" | "key.dismiss" | "key.rename" | "key.update" | "key.revoke" | "approval.submit" | "approval.review" | "settings.update" | "lifecycle.expire" | "lifecycle.recycle" | "access.window" | "access.request" | "access.allow" | "access.refuse" | "access.end" | "admin.create" | "admin.update" | "admin.remove" | "admin.readmit" | "admin.end_sessions" | "token.create" | "token.revoke" | "webhook.create" | "webhook.update" | "webhook.delete" | "reconcile.repair" | "audit.purge" | "audit.export" | "audit.read" | "service.backup" | "service.restore" | "host.enrol" | "host.lock" | "host.unlock" | "host.update" | "host.retire" | "host.forget" | "host.rotate" | "host.drift" | "host.hold" | "host_token.create" | "host_group.create" | "host_group.update" | "host_group.delete" | "user.grant" | "fleet.confirmed" | "fleet.diverged" | "fleet.accept" | "company.create" | "company.update" | "company.delete" | "company.end" | "company.resume" | "profile.create" | "profile.update" | "profile.delete" | "review.start" | "review.answer" | "review.unanswered" | "review.close" | "sponsor.vouch" | "sponsor.decline" | "sponsor.end" | "sponsor.move" | "webhook.ping" | (string & {}); attempt: number; status: "delivered" | "failed" | (string & {}); error: string; at: string };
    reason: "audit.unrecorded" | "database.full" | "delivery.missing" | "internal" | "login.factor_needed" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.busy" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong" | "webhook.missing" | "webhook.record_gone";
  };
  /** Remove an administrator. */
  removeAdmin: {
    route: "DELETE /admins/{id}";
    input: { path: { id: number } };
    answer: { status: "deleted" | (string & {}) };
    reason: "admin.last_owner" | "admin.missing" | "audit.unrecorded" | "database.full" | "internal" | "login.factor_needed" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong";
  };
  /** Remove one's own authenticator app. */
  removeAuthenticatorApp: {
    route: "DELETE /auth/totp";
    input: { body?: { password?: string; passkey?: { id: string; rawId: string; type: "public-key"; response: { clientDataJSON: string; authenticatorData: string; signature: string; userHandle?: string | null } } } };
    answer: { status: "removed" | (string & {}) };
    reason: "audit.unrecorded" | "database.full" | "factor.last" | "internal" | "login.locked" | "login.not_recent" | "login.passkey_wrong" | "password.wrong" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "service.busy" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.not_allowed" | "token.revoked" | "token.wrong" | "totp.missing";
  };
  /** Remove one of one's own passkeys. */
  removePasskey: {
    route: "DELETE /auth/passkeys/{id}";
    input: { path: { id: number }; body?: { password?: string; passkey?: { id: string; rawId: string; type: "public-key"; response: { clientDataJSON: string; authenticatorData: string; signature: string; userHandle?: string | null } } } };
    answer: { status: "removed" | (string & {}) };
    reason: "audit.unrecorded" | "database.full" | "factor.last" | "internal" | "login.locked" | "login.not_recent" | "login.passkey_wrong" | "passkey.missing" | "password.wrong" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "service.busy" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.not_allowed" | "token.revoked" | "token.wrong";
  };
  /** Change a key's name, or from where it may be used. */
  renameKey: {
    route: "PATCH /me/keys/{id}";
    input: { path: { id: number }; body: { name?: string; source_networks?: (string)[] } };
    answer: { id: number; name: string; type: string; bits: number; fingerprint: string; public_key: string; model: string | null; aaguid: string | null; source_networks: (string)[]; status: "active" | "revoked" | (string & {}); created_at: string; revoked_at: string | null; last_used_at: string | null; last_used_from: string; hosts?: { total: number; confirmed: number; pending: (string)[]; effective_by: string | null } };
    reason: "access.owed" | "account.foreign" | "account.group" | "account.missing" | "audit.unrecorded" | "database.full" | "host.refused" | "internal" | "key.missing" | "network.invalid" | "network.wider" | "rate.changes" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "state.conflict" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong" | "user.missing";
  };
  /** Rename one of one's own passkeys. */
  renamePasskey: {
    route: "PATCH /auth/passkeys/{id}";
    input: { path: { id: number }; body: { name: string } };
    answer: { id: number; name: string; backed_up: boolean; created_at: string; last_used_at: string | null };
    reason: "audit.unrecorded" | "database.full" | "internal" | "passkey.missing" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.not_allowed" | "token.revoked" | "token.wrong";
  };
  /** Get a review as a file. */
  reportReview: {
    route: "GET /reviews/{id}/report";
    input: { path: { id: number }; query?: { format?: "csv" | "json" } };
    answer: { review: { id: number; scope: "all" | (string & {}) | { company: number } | { host_group: number } | { sponsor: string }; scope_name: string; status: "open" | "closed" | (string & {}); started_at: string; due_at: string; closed_at: string | null; unanswered_way: "disable" | "report" | (string & {}); total: number; kept: number; ended: number; shortened: number; unanswered: number }; closed_at: string | null; unanswered: "disable" | "report" | (string & {}); start_record: number; close_record: number | null; head: string; items: ({ user_id: number; username: string; answer: "keep" | "end" | "shorten" | "unanswered" | "gone" | (string & {}) | null; grace_until: string | null; until: string | null; reason: string; answered_at: string | null; answered_by_type: "admin" | "user" | "cli" | "system" | "anonymous" | "token" | "sponsor" | (string & {}) | null; answered_by: string; answered_from: string; asked?: string; record: number | null; evidence: { status: "active" | "disabled" | "expired" | (string & {}); full_name: string; email: string; supervisor: string; purpose: string; company: string; expire_at: string; hosts: (string)[]; groups: (string)[]; source_networks: (string)[]; hours?: string; profile?: string; keys: ({ name: string; fingerprint: string; created_at: string; last_used_at: string | null; last_used_from: string })[]; last_login_at: string | null; logins: number; logins_since: string; created_at: string; created_by: string; extended_at: string | null; extended_by: string; extended_because: string; drift: (string)[] } | null })[] };
    reason: "database.full" | "internal" | "login.factor_needed" | "rate.limited" | "request.invalid" | "request.too_large" | "request.too_slow" | "review.missing" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong";
  };
  /** Ask for access. */
  requestAccess: {
    route: "POST /me/access";
    input: { body: { hours: number; hosts?: (string | number)[]; reason: string } };
    answer: { access: "open" | (string & {}); until: string } | { access: "on_request" | (string & {}); request: { id: number; status: "pending" | "approved" | "rejected" | (string & {}); hours: number; hosts: (string)[] | null; created_at: string; reviewed_at: string | null; reason: string } };
    reason: "access.fresh_login" | "access.hosts" | "access.limit" | "access.not_on_request" | "access.outside_hours" | "access.owed" | "access.pending" | "account.foreign" | "account.group" | "account.missing" | "audit.unrecorded" | "company.ended" | "database.full" | "host.refused" | "internal" | "rate.changes" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong" | "user.deleting" | "user.missing" | "user.not_active";
  };
  /** Ask for more time. */
  requestExtension: {
    route: "POST /me/extension";
    input: { body: { days: number; reason: string } };
    answer: { id: number; kind: "access" | "extension" | "access_request" | (string & {}); user_id: number | null; days: number | null; hours: number | null; hosts: (string)[] | null; end_when_asked: string | null; username: string; email: string; full_name: string; supervisor: string; purpose: string; company_id: number | null; requested_by: string; hours_wish: string; sponsor_email: string; sponsor_answer: "none" | "asked" | "vouched" | "declined" | (string & {}); sponsor_reason: string; status: "pending" | "approved" | "rejected" | (string & {}); reason: string; reviewed_by: string; reviewed_at: string | null; created_at: string };
    reason: "audit.unrecorded" | "database.full" | "extension.pending" | "internal" | "rate.changes" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong" | "user.deleting" | "user.missing" | "user.not_active" | "user.recycled";
  };
  /** Set a new administrator password with a mailed token. */
  resetPassword: {
    route: "POST /auth/admin/reset";
    input: { body: { token: string; new_password: string } };
    answer: { status: "reset" | (string & {}) };
    reason: "audit.unrecorded" | "database.full" | "internal" | "password.weak" | "rate.limited" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "reset.wrong" | "service.busy" | "service.not_ready";
  };
  /** Let users of a company be given access again. */
  resumeCompany: {
    route: "POST /companies/{id}/resume";
    input: { path: { id: number } };
    answer: { id: number; name: string; contract_end: string | null; max_users: number | null; max_ttl_days: number | null; source_networks: (string)[]; host_groups: (string)[]; hours: { zone: string; windows: ({ days: ("mon" | "tue" | "wed" | "thu" | "fri" | "sat" | "sun" | (string & {}))[]; from: string; to: string })[] } | null; sponsor_email: string; status: "active" | "ending" | "ended" | (string & {}); users: number; narrowing: boolean; created_at: string; updated_at: string };
    reason: "audit.unrecorded" | "company.missing" | "database.full" | "internal" | "login.factor_needed" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "state.conflict" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong";
  };
  /** Retire a host. */
  retireHost: {
    route: "DELETE /hosts/{id}";
    input: { path: { id: number }; query?: { preview?: "true" | "false"; force?: "true" | "false" } };
    answer: { preview: true; effects: (string)[]; host: (string)[]; accounts: { opened: number; shut: number; removed: number } } | { status: "retiring" | "forgotten" | (string & {}); accounts: number; effective_by: string | null };
    reason: "audit.unrecorded" | "database.full" | "host.local" | "host.missing" | "host.unreachable" | "internal" | "login.factor_needed" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong";
  };
  /** Approve or reject an application. */
  reviewApplication: {
    route: "POST /approvals/{id}/review";
    input: { path: { id: number }; body: { approve: boolean; reason?: string; create_user?: boolean; profile?: string | null; ttl_days?: number; company_id?: number | null; sponsor_email?: string; starts_at?: string; hours?: { zone: string; windows: ({ days: ("mon" | "tue" | "wed" | "thu" | "fri" | "sat" | "sun")[]; from: string; to: string })[] } | null } };
    answer: { id: number; kind: "access" | "extension" | "access_request" | (string & {}); user_id: number | null; days: number | null; hours: number | null; hosts: (string)[] | null; end_when_asked: string | null; username: string; email: string; full_name: string; supervisor: string; purpose: string; company_id: number | null; requested_by: string; hours_wish: string; sponsor_email: string; sponsor_answer: "none" | "asked" | "vouched" | "declined" | (string & {}); sponsor_reason: string; status: "pending" | "approved" | "rejected" | (string & {}); reason: string; reviewed_by: string; reviewed_at: string | null; created_at: string };
    reason: "access.hosts" | "access.not_on_request" | "access.outside_hours" | "account.foreign" | "account.group" | "account.missing" | "account.taken" | "application.missing" | "application.reviewed" | "audit.unrecorded" | "company.ended" | "company.full" | "company.limit" | "company.missing" | "database.full" | "host.refused" | "internal" | "login.factor_needed" | "profile.incomparable" | "profile.missing" | "profile.mode" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "sponsor.invalid" | "sponsor.missing" | "sponsor.pending" | "state.conflict" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong" | "user.deleting" | "user.disabling" | "user.missing" | "user.not_active" | "user.recycled" | "user.shortening" | "user.taken" | "user.too_late";
  };
  /** Revoke a key at once. */
  revokeKey: {
    route: "DELETE /me/keys/{id}";
    input: { path: { id: number } };
    answer: { id: number; name: string; type: string; bits: number; fingerprint: string; public_key: string; model: string | null; aaguid: string | null; source_networks: (string)[]; status: "active" | "revoked" | (string & {}); created_at: string; revoked_at: string | null; last_used_at: string | null; last_used_from: string; hosts?: { total: number; confirmed: number; pending: (string)[]; effective_by: string | null } };
    reason: "access.owed" | "audit.unrecorded" | "database.full" | "internal" | "key.missing" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong" | "user.missing";
  };
  /** Revoke a token. */
  revokeToken: {
    route: "DELETE /tokens/{id}";
    input: { path: { id: number } };
    answer: { id: number; name: string; role: "owner" | "operator" | "reviewer" | "auditor" | (string & {}); prefix: string; owner: string; made_by: number | null; networks: (string)[]; created_at: string; expires_at: string; last_used_at: string | null; last_used_from: string; revoked_at: string | null; status: "active" | "expired" | "revoked" | (string & {}) };
    reason: "audit.unrecorded" | "database.full" | "internal" | "login.factor_needed" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.missing" | "token.network" | "token.revoked" | "token.wrong";
  };
  /** Revoke a user's key at once. */
  revokeUserKey: {
    route: "DELETE /users/{id}/keys/{keyId}";
    input: { path: { id: number; keyId: number } };
    answer: { id: number; name: string; type: string; bits: number; fingerprint: string; public_key: string; model: string | null; aaguid: string | null; source_networks: (string)[]; status: "active" | "revoked" | (string & {}); created_at: string; revoked_at: string | null; last_used_at: string | null; last_used_from: string; hosts?: { total: number; confirmed: number; pending: (string)[]; effective_by: string | null } };
    reason: "access.owed" | "audit.unrecorded" | "database.full" | "internal" | "key.missing" | "login.factor_needed" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong" | "user.missing";
  };
  /** Send a one-time code by e-mail. */
  sendCode: {
    route: "POST /auth/otp/send";
    input: { body: { username: string; captcha_id: string; captcha_code: string } };
    answer: { status: "sent" | (string & {}) };
    reason: "audit.unrecorded" | "captcha.wrong" | "code.cooldown" | "database.full" | "internal" | "login.locked" | "rate.limited" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "service.busy" | "service.not_ready";
  };
  /** Give a user these hosts and groups, and no others. */
  setUserHosts: {
    route: "PUT /users/{id}/hosts";
    input: { path: { id: number }; query?: { preview?: "true" | "false" }; body: { hosts: (string)[]; groups: (string)[] } };
    answer: { preview: true; effects: (string)[]; host: (string)[]; accounts: { opened: number; shut: number; removed: number } } | { hosts: (string)[]; groups: (string)[]; taken?: { total: number; confirmed: number; pending: (string)[]; effective_by: string | null }; items: ({ host: string; group: string; state: "applied" | "pending" | "problem" | (string & {}); since: string; removing: boolean; problem: string; lease_until: string | null })[] };
    reason: "access.owed" | "account.foreign" | "account.group" | "account.missing" | "account.taken" | "audit.unrecorded" | "company.limit" | "database.full" | "grant.last" | "host.missing" | "host.refused" | "host.retiring" | "host_group.missing" | "internal" | "login.factor_needed" | "profile.incomparable" | "profile.mode" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong" | "user.deleting" | "user.missing";
  };
  /** Begin a review. */
  startReview: {
    route: "POST /reviews";
    input: { body: { scope: "all" | { company: number } | { host_group: number } | { sponsor: string }; due_days?: number; unanswered?: "disable" | "report" } };
    answer: { id: number; scope: "all" | (string & {}) | { company: number } | { host_group: number } | { sponsor: string }; scope_name: string; status: "open" | "closed" | (string & {}); started_at: string; due_at: string; closed_at: string | null; unanswered_way: "disable" | "report" | (string & {}); total: number; kept: number; ended: number; shortened: number; unanswered: number };
    reason: "audit.unrecorded" | "company.missing" | "database.full" | "host_group.missing" | "internal" | "login.factor_needed" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "review.empty" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong";
  };
  /** Apply for access. */
  submitApplication: {
    route: "POST /approvals";
    input: { body: { username: string; email: string; full_name?: string; supervisor?: string; purpose?: string; sponsor_email?: string; hours_wish?: string } };
    answer: { id: number; kind: "access" | "extension" | "access_request" | (string & {}); user_id: number | null; days: number | null; hours: number | null; hosts: (string)[] | null; end_when_asked: string | null; username: string; email: string; full_name: string; supervisor: string; purpose: string; company_id: number | null; requested_by: string; hours_wish: string; sponsor_email: string; sponsor_answer: "none" | "asked" | "vouched" | "declined" | (string & {}); sponsor_reason: string; status: "pending" | "approved" | "rejected" | (string & {}); reason: string; reviewed_by: string; reviewed_at: string | null; created_at: string };
    reason: "application.limit" | "audit.unrecorded" | "database.full" | "internal" | "rate.limited" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "service.not_ready" | "sponsor.invalid";
  };
  /** Open a locked host again. */
  unlockHost: {
    route: "POST /hosts/{id}/unlock";
    input: { path: { id: number } };
    answer: { id: number; name: string; kind: "local" | "remote" | (string & {}); status: "active" | "locked" | "retiring" | (string & {}); groups: (string)[]; ssh_host: string; ssh_port: number; lease: string | null; own_lease: string | null; lease_ends: "logins" | "sessions" | (string & {}); lease_until: string | null; enrolled_at: string; last_seen_at: string | null; mode: string; version: string; clock_offset_ms: number; host_keys: (string)[]; accounts: { total: number; open: number }; problems: ({ host: string; account: string; kind: "conflict" | "missing" | "refused" | "drift" | "finding" | "silent" | "lease_ended" | "diverged" | "unknown" | "clock" | "no_lease" | "locked" | "profile" | (string & {}); text: string; since: string })[]; profiles: ({ name: string; state: "applied" | "problem" | (string & {}); problem: string })[] };
    reason: "audit.unrecorded" | "database.full" | "host.local" | "host.missing" | "host.retiring" | "internal" | "login.factor_needed" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong";
  };
  /** Change an administrator's e-mail or role. */
  updateAdmin: {
    route: "PATCH /admins/{id}";
    input: { path: { id: number }; body: { email?: string; role?: "owner" | "operator" | "reviewer" | "auditor"; password?: string; passkey?: { id: string; rawId: string; type: "public-key"; response: { clientDataJSON: string; authenticatorData: string; signature: string; userHandle?: string | null } } } };
    answer: { id: number; username: string; email: string; role: "owner" | "operator" | "reviewer" | "auditor" | (string & {}); status: "active" | "invited" | (string & {}); sso: boolean; passkeys: number; totp: boolean; factor_missing: boolean; created_at: string; last_login_at: string | null };
    reason: "admin.last_owner" | "admin.missing" | "audit.unrecorded" | "database.full" | "internal" | "login.factor_needed" | "login.locked" | "login.not_recent" | "login.passkey_wrong" | "password.wrong" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.busy" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "sso.managed" | "token.expired" | "token.misplaced" | "token.network" | "token.not_allowed" | "token.revoked" | "token.wrong";
  };
  /** Change a company. */
  updateCompany: {
    route: "PATCH /companies/{id}";
    input: { path: { id: number }; query?: { preview?: "true" | "false" }; body: { name?: string; contract_end?: string | null; max_users?: number | null; max_ttl_days?: number | null; source_networks?: (string)[]; host_groups?: (string)[]; hours?: { zone: string; windows: ({ days: ("mon" | "tue" | "wed" | "thu" | "fri" | "sat" | "sun")[]; from: string; to: string })[] } | null; sponsor_email?: string } };
    answer: { preview: true; effects: (string)[]; host: (string)[]; users: number } | { id: number; name: string; contract_end: string | null; max_users: number | null; max_ttl_days: number | null; source_networks: (string)[]; host_groups: (string)[]; hours: { zone: string; windows: ({ days: ("mon" | "tue" | "wed" | "thu" | "fri" | "sat" | "sun" | (string & {}))[]; from: string; to: string })[] } | null; sponsor_email: string; status: "active" | "ending" | "ended" | (string & {}); users: number; narrowing: boolean; created_at: string; updated_at: string };
    reason: "audit.unrecorded" | "company.limit" | "company.missing" | "company.taken" | "database.full" | "host_group.missing" | "internal" | "login.factor_needed" | "network.invalid" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "sponsor.invalid" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong";
  };
  /** Change a host's name or lease. */
  updateHost: {
    route: "PATCH /hosts/{id}";
    input: { path: { id: number }; body: { name?: string; lease?: string | null; lease_ends?: "logins" | "sessions" } };
    answer: { id: number; name: string; kind: "local" | "remote" | (string & {}); status: "active" | "locked" | "retiring" | (string & {}); groups: (string)[]; ssh_host: string; ssh_port: number; lease: string | null; own_lease: string | null; lease_ends: "logins" | "sessions" | (string & {}); lease_until: string | null; enrolled_at: string; last_seen_at: string | null; mode: string; version: string; clock_offset_ms: number; host_keys: (string)[]; accounts: { total: number; open: number }; problems: ({ host: string; account: string; kind: "conflict" | "missing" | "refused" | "drift" | "finding" | "silent" | "lease_ended" | "diverged" | "unknown" | "clock" | "no_lease" | "locked" | "profile" | (string & {}); text: string; since: string })[]; profiles: ({ name: string; state: "applied" | "problem" | (string & {}); problem: string })[] };
    reason: "audit.unrecorded" | "database.full" | "host.local" | "host.missing" | "host.taken" | "internal" | "login.factor_needed" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong";
  };
  /** Change a group of hosts. */
  updateHostGroup: {
    route: "PATCH /host-groups/{id}";
    input: { path: { id: number }; query?: { preview?: "true" | "false" }; body: { name?: string; hosts?: (string)[]; add?: (string)[]; remove?: (string)[]; lease?: string | null; hours?: { zone: string; windows: ({ days: ("mon" | "tue" | "wed" | "thu" | "fri" | "sat" | "sun")[]; from: string; to: string })[] } | null; profile?: string | null; for_new_users?: boolean } };
    answer: { preview: true; effects: (string)[]; host: (string)[]; accounts: { opened: number; shut: number; removed: number } } | { id: number; name: string; hosts: (string)[]; users: number; lease: string | null; hours: { zone: string; windows: ({ days: ("mon" | "tue" | "wed" | "thu" | "fri" | "sat" | "sun" | (string & {}))[]; from: string; to: string })[] } | null; profile: string | null; for_new_users: boolean; created_at: string; narrowed?: { total: number; confirmed: number; pending: (string)[]; effective_by: string | null } };
    reason: "access.owed" | "audit.unrecorded" | "database.full" | "host.local" | "host.missing" | "host.retiring" | "host_group.missing" | "host_group.taken" | "host_group.used" | "internal" | "login.factor_needed" | "profile.incomparable" | "profile.missing" | "profile.mode" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong";
  };
  /** Change what a profile allows. */
  updateProfile: {
    route: "PATCH /profiles/{id}";
    input: { path: { id: number }; query?: { preview?: "true" | "false" }; body: { directory?: string; read_only?: boolean; umask?: string | null; targets?: (string)[]; forwarding?: boolean | (string)[]; command?: string; idle?: string | null; max_sessions?: number | null; second_factor?: "none" | "verified"; attestation?: "none" | "required"; groups?: (string)[]; sudo?: (string)[]; banner?: string | null } };
    answer: { preview: true; effects: (string)[]; host: (string)[]; users: number } | { id: number; name: string; kind: "shell" | "sftp" | "forward" | "command" | (string & {}); directory: string | null; read_only: boolean; umask: string | null; targets: (string)[]; forwarding: boolean | (string)[]; command: string | null; idle: string | null; max_sessions: number | null; second_factor: "none" | "verified" | (string & {}); attestation: "none" | "required" | (string & {}); groups: (string)[]; sudo: (string)[]; banner: string | null; users: number; hosts?: { total: number; confirmed: number; pending: (string)[]; effective_by: string | null } };
    reason: "access.owed" | "audit.unrecorded" | "database.full" | "internal" | "login.factor_needed" | "profile.attestation" | "profile.incomparable" | "profile.missing" | "profile.mode" | "profile.refused" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "state.conflict" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong";
  };
  /** Override a configured default. */
  updateSetting: {
    route: "PUT /settings";
    input: { query?: { preview?: "true" | "false" }; body: { key: "policy.default_ttl" | "policy.recycle_period" | "policy.audit_retention" | "policy.review_every" | "policy.inactive_after"; value: string } };
    answer: { preview: true; effects: (string)[]; host: (string)[]; key: "policy.default_ttl" | "policy.recycle_period" | "policy.audit_retention" | "policy.review_every" | "policy.inactive_after" | (string & {}); value: string; at: string; deletes: { users: number; audit_records: number } } | { key: "policy.default_ttl" | "policy.recycle_period" | "policy.audit_retention" | "policy.review_every" | "policy.inactive_after" | (string & {}); value: string; overridden: boolean; pending?: { value: string; at: string } };
    reason: "audit.unrecorded" | "database.full" | "internal" | "login.factor_needed" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "setting.too_short" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong";
  };
  /** Change e-mail, full name, supervisor, sponsor, purpose, note, company, profile, networks, start or hours. */
  updateUser: {
    route: "PATCH /users/{id}";
    input: { path: { id: number }; query?: { preview?: "true" | "false" }; body: { email?: string; full_name?: string; supervisor?: string; purpose?: string; note?: string; starts_at?: string | null; hours?: { zone: string; windows: ({ days: ("mon" | "tue" | "wed" | "thu" | "fri" | "sat" | "sun")[]; from: string; to: string })[] } | null; hours_end?: "sessions" | "logins"; on_request?: { rule: "self" | "sponsor" | "review"; max_hours: number; groups?: (string)[] } | null; source_networks?: (string)[]; company_id?: number | null; manager?: boolean; sponsor_email?: string; profile?: string | null } };
    answer: { id: number; username: string; host_account: string; email: string; full_name: string; supervisor: string; purpose: string; note: string; source_networks: (string)[]; company_id: number | null; manager: boolean; sponsor_email: string; profile: string | null; status: "active" | "disabled" | "expired" | (string & {}); expire_at: string; starts_at: string | null; hours: { zone: string; windows: ({ days: ("mon" | "tue" | "wed" | "thu" | "fri" | "sat" | "sun" | (string & {}))[]; from: string; to: string })[] } | null; hours_end: "sessions" | "logins" | (string & {}); on_request: { rule: "self" | "sponsor" | "review" | (string & {}); max_hours: number; groups?: (string)[] } | null; access: "open" | "not_yet" | "outside_hours" | "on_request" | "closed" | (string & {}); access_changes_at: string | null; disabled_at: string | null; welcome: "pending" | "sent" | (string & {}); created_at: string; updated_at: string; preview: true; effects: (string)[]; host: (string)[] } | { id: number; username: string; host_account: string; email: string; full_name: string; supervisor: string; purpose: string; note: string; source_networks: (string)[]; company_id: number | null; manager: boolean; sponsor_email: string; profile: string | null; status: "active" | "disabled" | "expired" | (string & {}); expire_at: string; starts_at: string | null; hours: { zone: string; windows: ({ days: ("mon" | "tue" | "wed" | "thu" | "fri" | "sat" | "sun" | (string & {}))[]; from: string; to: string })[] } | null; hours_end: "sessions" | "logins" | (string & {}); on_request: { rule: "self" | "sponsor" | "review" | (string & {}); max_hours: number; groups?: (string)[] } | null; access: "open" | "not_yet" | "outside_hours" | "on_request" | "closed" | (string & {}); access_changes_at: string | null; disabled_at: string | null; welcome: "pending" | "sent" | (string & {}); created_at: string; updated_at: string; hosts?: { total: number; confirmed: number; pending: (string)[]; effective_by: string | null } };
    reason: "access.owed" | "account.foreign" | "account.group" | "account.missing" | "audit.unrecorded" | "company.ended" | "company.full" | "company.limit" | "company.missing" | "database.full" | "host.refused" | "host_group.missing" | "internal" | "login.factor_needed" | "network.invalid" | "profile.incomparable" | "profile.missing" | "profile.mode" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "sponsor.invalid" | "sponsor.missing" | "state.conflict" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong" | "user.missing" | "user.started";
  };
  /** Change a webhook, or switch it on or off. */
  updateWebhook: {
    route: "PATCH /webhooks/{id}";
    input: { path: { id: number }; body: { url?: string; actions?: ("auth.admin_login" | "auth.admin_password_only" | "auth.changes_refused" | "auth.otp_send" | "auth.otp_login" | "auth.logout" | "auth.sso_logout" | "auth.admin_forgot" | "auth.admin_reset" | "auth.admin_password" | "auth.passkey_add" | "auth.passkey_rename" | "auth.passkey_remove" | "auth.totp_add" | "auth.totp_remove" | "user.create" | "user.update" | "user.disable" | "user.enable" | "user.extend" | "user.shorten" | "user.delete" | "user.lock" | "user.export" | "user.adopt" | "user.give_back" | "user.welcome" | "user.terms" | "extension.request" | "extension.withdraw" | "session.end" | "user.end_sessions" | "key.create" | "key.confirm" | "key.dismiss" | "key.rename" | "key.update" | "key.revoke" | "approval.submit" | "approval.review" | "settings.update" | "lifecycle.expire" | "lifecycle.recycle" | "access.window" | "access.request" | "access.allow" | "access.refuse" | "access.end" | "admin.create" | "admin.update" | "admin.remove" | "admin.readmit" | "admin.end_sessions" | "token.create" | "token.revoke" | "webhook.create" | "webhook.update" | "webhook.delete" | "reconcile.repair" | "audit.purge" | "audit.export" | "audit.read" | "service.backup" | "service.restore" | "host.enrol" | "host.lock" | "host.unlock" | "host.update" | "host.retire" | "host.forget" | "host.rotate" | "host.drift" | "host.hold" | "host_token.create" | "host_group.create" | "host_group.update" | "host_group.delete" | "user.grant" | "fleet.confirmed" | "fleet.diverged" | "fleet.accept" | "company.create" | "company.update" | "company.delete" | "company.end" | "company.resume" | "profile.create" | "profile.update" | "profile.delete" | "review.start" | "review.answer" | "review.unanswered" | "review.close" | "sponsor.vouch" | "sponsor.decline" | "sponsor.end" | "sponsor.move")[]; status?: "active" | "disabled"; password?: string; passkey?: { id: string; rawId: string; type: "public-key"; response: { clientDataJSON: string; authenticatorData: string; signature: string; userHandle?: string | null } } } };
    answer: { id: number; url: string; actions: ("auth.admin_login" | "auth.admin_password_only" | "auth.changes_refused" | "auth.otp_send" | "auth.otp_login" | "auth.logout" | "auth.sso_logout" | "auth.admin_forgot" | "auth.admin_reset" | "auth.admin_password" | "auth.passkey_add" | "auth.passkey_rename" | "auth.passkey_remove" | "auth.totp_add" | "auth.totp_remove" | "user.create" | "user.update" | "user.disable" | "user.enable" | "user.extend" | "user.shorten" | "user.delete" | "user.lock" | "user.export" | "user.adopt" | "user.give_back" | "user.welcome" | "user.terms" | "extension.request" | "extension.withdraw" | "session.end" | "user.end_sessions" | "key.create" | "key.confirm" | "key.dismiss" | "key.rename" | "key.update" | "key.revoke" | "approval.submit" | "approval.review" | "settings.update" | "lifecycle.expire" | "lifecycle.recycle" | "access.window" | "access.request" | "access.allow" | "access.refuse" | "access.end" | "admin.create" | "admin.update" | "admin.remove" | "admin.readmit" | "admin.end_sessions" | "token.create" | "token.revoke" | "webhook.create" | "webhook.update" | "webhook.delete" | "reconcile.repair" | "audit.purge" | "audit.export" | "audit.read" | "service.backup" | "service.restore" | "host.enrol" | "host.lock" | "host.unlock" | "host.update" | "host.retire" | "host.forget" | "host.rotate" | "host.drift" | "host.hold" | "host_token.create" | "host_group.create" | "host_group.update" | "host_group.delete" | "user.grant" | "fleet.confirmed" | "fleet.diverged" | "fleet.accept" | "company.create" | "company.update" | "company.delete" | "company.end" | "company.resume" | "profile.create" | "profile.update" | "profile.delete" | "review.start" | "review.answer" | "review.unanswered" | "review.close" | "sponsor.vouch" | "sponsor.decline" | "sponsor.end" | "sponsor.move" | (string & {}))[]; status: "active" | "disabled" | (string & {}); created_at: string; made_by: string; maker_removed: boolean; lag: number; failing_since: string | null; last_error: string; last_delivered_at: string | null };
    reason: "audit.unrecorded" | "database.full" | "internal" | "login.factor_needed" | "login.locked" | "login.not_recent" | "login.passkey_wrong" | "password.wrong" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.busy" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong" | "webhook.address" | "webhook.missing";
  };
  /** Upload a public key. */
  uploadKey: {
    route: "POST /me/keys";
    input: { body: { name: string; public_key: string; source_networks?: (string)[]; attestation?: { challenge: string; statement: string } } };
    answer: { id: number; name: string; type: string; bits: number; fingerprint: string; public_key: string; model: string | null; aaguid: string | null; source_networks: (string)[]; status: "active" | "revoked" | (string & {}); created_at: string; revoked_at: string | null; last_used_at: string | null; last_used_from: string };
    reason: "account.foreign" | "account.group" | "account.missing" | "audit.unrecorded" | "database.full" | "host.refused" | "internal" | "key.attestation_missing" | "key.attestation_wrong" | "key.challenge" | "key.duplicate" | "key.format" | "key.limit" | "key.private" | "key.type" | "key.weak" | "network.invalid" | "network.wider" | "rate.changes" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "terms.pending" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong" | "user.missing" | "user.not_active";
  };
  /** Send the mail that tells a user of the account. */
  welcomeUser: {
    route: "POST /users/{id}/welcome";
    input: { path: { id: number } };
    answer: { status: "welcomed" | (string & {}) };
    reason: "audit.unrecorded" | "database.full" | "internal" | "login.factor_needed" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "role.insufficient" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong" | "user.missing" | "user.not_active" | "user.welcomed";
  };
  /** Withdraw the request for more time. */
  withdrawExtension: {
    route: "DELETE /me/extension";
    input: {  };
    answer: { id: number; kind: "access" | "extension" | "access_request" | (string & {}); user_id: number | null; days: number | null; hours: number | null; hosts: (string)[] | null; end_when_asked: string | null; username: string; email: string; full_name: string; supervisor: string; purpose: string; company_id: number | null; requested_by: string; hours_wish: string; sponsor_email: string; sponsor_answer: "none" | "asked" | "vouched" | "declined" | (string & {}); sponsor_reason: string; status: "pending" | "approved" | "rejected" | (string & {}); reason: string; reviewed_by: string; reviewed_at: string | null; created_at: string };
    reason: "application.missing" | "audit.unrecorded" | "database.full" | "internal" | "rate.changes" | "rate.limited" | "rate.refused" | "request.invalid" | "request.origin" | "request.too_large" | "request.too_slow" | "service.not_ready" | "session.missing" | "session.wrong_kind" | "token.expired" | "token.misplaced" | "token.network" | "token.revoked" | "token.wrong" | "user.missing";
  };
}
