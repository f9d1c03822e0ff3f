/** The manifests in docs/kubernetes say what the program and its image understand. */

import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { YAML } from "bun";
import { readConfig } from "../../src/config/config.ts";
import { API_ROOT } from "../../src/server/api/app.ts";

const ROOT = join(import.meta.dir, "../..");
// biome-ignore lint/suspicious/noExplicitAny: manifests have every shape
const documentsOf = (name: string): any[] =>
  readFileSync(join(ROOT, "docs/kubernetes", name), "utf8")
    .split(/^---$/m)
    .map((text) => YAML.parse(text));

const documents = documentsOf("uam.yaml");
const of = (kind: string) => documents.find((document) => document.kind === kind);
const pods = [of("Deployment").spec.template.spec, of("Job").spec.template.spec];

describe("docs/kubernetes/uam.yaml", () => {
  test("configures a service that starts: no fault, no host of its own, one database for all replicas", () => {
    const { data } = of("ConfigMap");
    for (const pod of pods) {
      const [container] = pod.containers;
      const { value } = container.env.find(({ name }: { name: string }) => name === "UAM_DATABASE_URL");
      const key = join(import.meta.dir, "../testdata/nothing");
      const { UAM_AUDIT_KEY_FILE: file, UAM_SMTP_URL_FILE: mail, ...given } = data;
      expect(container.volumeMounts.map(({ mountPath }: { mountPath: string }) => mountPath)).toEqual([
        "/var/lib/uam",
        "/etc/uam",
      ]);
      expect([file, mail]).toEqual(["/etc/uam/audit-key", "/etc/uam/smtp-url"]);
      const variables = {
        ...given,
        UAM_DATABASE_URL: value.replace(/\$\(\w+\)/g, "x"),
        UAM_AUDIT_KEY: "0".repeat(64),
        UAM_SMTP_URL: "smtps://x",
      };
      const config = readConfig(variables, { isRoot: false, currentDirectory: key });
      expect(config).toMatchObject({ localHost: false, dataDir: "/var/lib/uam/data" });
    }
  });

  test("runs as the number of the image's user, without rights", () => {
    const [, uid = "", gid = ""] = /^USER (\d+):(\d+)$/m.exec(readFileSync(join(ROOT, "Containerfile"), "utf8")) ?? [];
    for (const pod of pods) {
      expect(pod.securityContext).toMatchObject({
        runAsNonRoot: true,
        runAsUser: Number(uid),
        runAsGroup: Number(gid),
      });
      expect(pod.containers[0].securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      });
    }
  });

  test("asks /healthz whether the process lives, and /readyz whether it is ready", () => {
    const [{ startupProbe, livenessProbe, readinessProbe }] = pods[0].containers;
    const paths = [startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => httpGet.path);
    expect(paths).toEqual([`${API_ROOT}/healthz`, `${API_ROOT}/healthz`, `${API_ROOT}/readyz`]);
  });
});

test("docs/kubernetes/postgres.yaml acknowledges no commit that only one node has", () => {
  const [cluster] = documentsOf("postgres.yaml");
  expect(cluster.spec.postgresql.synchronous).toEqual({
    method: "any",
    number: 1,
    dataDurability: "required",
    failoverQuorum: true,
  });
  expect(of("Deployment").spec.template.spec.containers[0].env[2].value).toContain(
    `@${cluster.metadata.name}-rw:5432/`,
  );
});
