import { describe, expect, test } from "bun:test";
import { choosesNode, databaseUrlFault, parseDatabaseUrl } from "../../../src/shared/net/database-url.ts";

const node = (host: string, port = 5432) => ({ host, port });

describe("parseDatabaseUrl()", () => {
  test.each([
    ["postgres://a/uam", [node("a")]],
    ["postgres://a:5433,b,c:1/uam?x=1", [node("a", 5433), node("b"), node("c", 1)]],
    ["postgresql://uam:p%40ss@[2001:db8::1]:5433,[::1]/uam", [node("2001:db8::1", 5433), node("::1")]],
    ["postgres:///uam?host=a,b&port=1,2", [node("a", 1), node("b", 2)]],
    ["postgres:///uam?host=a,b&port=7", [node("a", 7), node("b", 7)]],
    ["postgres:///uam?host=/run/postgresql", []],
    ["postgres:///uam", []],
  ])("of %s has the nodes", (text, nodes) => {
    expect(parseDatabaseUrl(text)?.nodes).toEqual(nodes);
  });

  test("at() names one node, and nothing that would choose another", () => {
    const url = parseDatabaseUrl("postgres://uam:p%2Fw@a,b:2/uam?target_session_attrs=read-write&sslmode=require");
    expect(url?.at(url.nodes[1])).toBe("postgres://uam:p%2Fw@b:2/uam?sslmode=require");
    const query = parseDatabaseUrl("postgres:///uam?host=a,::1&port=1,2&sslmode=require");
    expect(query).toBeUndefined();
    const six = parseDatabaseUrl("postgres://uam@[::1]:2,b/uam");
    expect(six?.at(six.nodes[0])).toBe("postgres://uam@[::1]:2/uam");
    expect(parseDatabaseUrl("postgres:///uam?host=/run")?.at()).toBe("postgres:///uam?host=%2Frun");
  });

  test.each([
    "postgres://a:port/uam",
    "postgres://a,,b/uam",
    "postgres://a:70000,b/uam",
    "http://a/",
    "postgres://a:1:2,b/",
  ])("knows %s for what it is not", (text) => {
    expect(parseDatabaseUrl(text)).toBeUndefined();
    expect(databaseUrlFault(text)).toStartWith("must be a URL such as");
  });
});

test("a node has to be chosen where there are several, or one that must take changes", () => {
  const chooses = (text: string) => choosesNode(parseDatabaseUrl(text) as never);
  expect(chooses("postgres://a,b/uam")).toBeTrue();
  expect(chooses("postgres://a/uam?target_session_attrs=read-write")).toBeTrue();
  expect(chooses("postgres://a/uam")).toBeFalse();
  expect(chooses("postgres:///uam?host=/run&target_session_attrs=read-write")).toBeFalse();
});

test("databaseUrlFault() refuses to look for a node that takes no changes", () => {
  expect(databaseUrlFault("postgres://a,b/uam?target_session_attrs=standby")).toBe(
    "asks for target_session_attrs=standby, but the service needs the node that takes changes: read-write",
  );
  expect(databaseUrlFault("postgres://a,b/uam?target_session_attrs=read-write")).toBeUndefined();
});
