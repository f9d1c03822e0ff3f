#!/usr/bin/python
"""On which hosts a user of uam has an account."""

from __future__ import annotations

DOCUMENTATION = r"""
module: grant
short_description: On which hosts a user of uam has an account
description:
  - C(hosts) and C(groups) are each the whole list. What leaves them is taken from the user there, with the home directory.
extends_documentation_fragment: uam.uam.api
options:
  user: {description: The username., type: str, required: true}
  hosts: {description: Hosts by name; by default as they are., type: list, elements: str}
  groups: {description: Hosts by group; by default as they are., type: list, elements: str}
"""

EXAMPLES = r"""
# The group default has the service's own host.
- uam.uam.grant: {user: jensen, groups: [default, web]}
"""

RETURN = r"""
grant: {description: "The lists C(hosts) and C(groups), as they are then.", type: dict, returned: when there is the user}
preview: {description: What the service says that the change would do., type: list, returned: in check mode}
"""

from ansible_collections.uam.uam.plugins.module_utils.api import Task, changes


def work(task):
    name = task.params["user"]
    user = task.api.named("/users", name, field="username", q=name)
    if not user:
        return task.missing("There is no user %s" % name)
    path = "/users/%d/hosts" % user["id"]
    record = task.api.call("GET", path)
    present = {"hosts": record["hosts"], "groups": record["groups"]}
    wanted = dict(present, **task.given("hosts", "groups"))
    if changes(present, wanted):
        task.differs(present, wanted)
        task.change("PUT", path, wanted, preview=True)
    return {"grant": wanted}


def main():
    Task(
        dict(
            user=dict(type="str", required=True),
            hosts=dict(type="list", elements="str"),
            groups=dict(type="list", elements="str"),
        )
    ).run(work)


if __name__ == "__main__":
    main()
