/** The tables of what binds external users: the companies that they come from, and the profiles that say what they may do. */

import { sql } from "drizzle-orm";
import { boolean, check, integer, pgTable, text } from "drizzle-orm/pg-core";
import {
  ACTOR_TYPES,
  ATTESTATIONS,
  COMPANY_STATUSES,
  PROFILE_KINDS,
  SECOND_FACTORS,
} from "../shared/product/statuses.ts";
import { id, time } from "./columns.ts";

/** Companies. Limits that are null or empty limit nothing. */
export const companies = pgTable(
  "companies",
  {
    id: id(),
    name: text().notNull().unique(),
    /** No user's end lies after it. */
    contractEnd: time(),
    /** How many users it may have, whatever their status. */
    maxUsers: integer(),
    /** How many days ahead a user's end may lie when it is set. */
    maxTtlDays: integer(),
    /** As canonical CIDRs. */
    sourceNetworks: text().array().notNull().default([]),
    /** The ids of the groups of hosts that its users may have. */
    hostGroups: integer().array().notNull().default([]),
    /** The hours of the week in which access of its users is open, as `parseHours` reads them; null for always. */
    hours: text(),
    /** Who answers for its users; "" for nobody. */
    sponsorEmail: text().notNull().default(""),
    status: text({ enum: COMPANY_STATUSES }).notNull().default("active"),
    /** Who asked to end it: what follows is recorded in their name. */
    askedByType: text({ enum: ACTOR_TYPES }).notNull().default("system"),
    askedBy: text().notNull().default(""),
    /** The owner of the token, if a token asked. */
    askedByOwner: text().notNull().default(""),
    /** Since when its users are being narrowed to its limits; null once nobody lies outside. */
    narrowingSince: time(),
    /** The last end that they keep; null where their ends stay. Not from the limits, which follow the clock. */
    narrowingEnd: time(),
    /** Who asked for that, as above. */
    narrowingByType: text({ enum: ACTOR_TYPES }).notNull().default("system"),
    narrowingBy: text().notNull().default(""),
    narrowingByOwner: text().notNull().default(""),
    createdAt: time().notNull(),
    updatedAt: time().notNull(),
  },
  (t) => [check("companies_status", sql`${t.status} in ('active', 'ending', 'ended')`)],
);

export type CompanyRow = typeof companies.$inferSelect;

/** Profiles. What is null or empty restricts nothing, or does not apply to the kind. */
export const profiles = pgTable(
  "profiles",
  {
    id: id(),
    /** Never another: hosts have a group of that name. */
    name: text().notNull().unique(),
    kind: text({ enum: PROFILE_KINDS }).notNull(),
    /** Of files: an absolute path. */
    directory: text(),
    readOnly: boolean().notNull().default(false),
    /** Octal digits. */
    umask: text(),
    /** `host:port`; those of a shell whose forwarding goes nowhere else, too. */
    targets: text().array().notNull().default([]),
    /** Whether a shell may forward connections: anywhere, where it has no targets. */
    forwarding: boolean().notNull().default(true),
    /** The name of a program. */
    command: text(),
    idleSeconds: integer(),
    /** In each connection. */
    maxSessions: integer(),
    secondFactor: text({ enum: SECOND_FACTORS }).notNull().default("none"),
    /** Of the make of its keys. */
    attestation: text({ enum: ATTESTATIONS }).notNull().default("none"),
    /** Supplementary groups of the host. */
    groups: text().array().notNull().default([]),
    /** Names of the host's sudo templates. */
    sudo: text().array().notNull().default([]),
    /** The path of a file. */
    banner: text(),
    createdAt: time().notNull(),
    updatedAt: time().notNull(),
  },
  (t) => [
    check("profiles_kind", sql`${t.kind} in ('shell', 'sftp', 'forward', 'command')`),
    check("profiles_second_factor", sql`${t.secondFactor} in ('none', 'verified')`),
    check(
      "profiles_attestation",
      sql`${t.attestation} = 'none' or (${t.attestation} = 'required' and ${t.secondFactor} = 'verified')`,
    ),
  ],
);

export type ProfileRow = typeof profiles.$inferSelect;
