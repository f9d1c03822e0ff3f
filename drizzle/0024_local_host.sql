-- The host that the service itself runs on, the group that it is in, and everybody who has an account there.
INSERT INTO hosts (id, name, kind, enrolled_at) VALUES (1, 'local', 'local', now());
--> statement-breakpoint
INSERT INTO host_groups (name, created_at) VALUES ('default', now());
--> statement-breakpoint
INSERT INTO host_group_members (group_id, host_id) SELECT id, 1 FROM host_groups WHERE name = 'default';
--> statement-breakpoint
INSERT INTO grants (user_id, group_id, created_at) SELECT u.id, g.id, now() FROM users u, host_groups g WHERE g.name = 'default';
