#!/usr/bin/python
"""Groups of hosts of uam."""

from __future__ import annotations

DOCUMENTATION = r"""
module: host_group
short_description: Groups of hosts of uam
description:
  - Creates, changes and deletes groups of hosts.
extends_documentation_fragment: uam.uam.api
options:
  name: {description: The group's name., type: str, required: true}
  state: {description: Whether it exists., choices: [present, absent], default: present, type: str}
  hosts:
    description: All hosts of the group. Those that leave remove the accounts that nothing else gives there.
    type: list
    elements: str
  lease: {description: "How long its hosts stay open without the service, as C(1h); empty for none of its own.", type: str}
  hours:
    description: In which alone accounts on its hosts are open, as of M(uam.uam.user); no windows for always.
    type: dict
  profile: {description: What may be done at most by whoever comes to its hosts by it; empty for anything., type: str}
  for_new_users: {description: Whether new users get it; C(true) only., type: bool}
"""

EXAMPLES = r"""
- uam.uam.host_group: {name: web, hosts: [web1, web2], lease: 1h}
"""

RETURN = r"""
host_group: {description: The group as the API has it., type: dict, returned: when there is one}
preview: {description: What the service says that each change would do., type: list, returned: in check mode}
"""

from ansible_collections.uam.uam.plugins.module_utils.api import Task, changes, hours_of


def find(task):
    groups = task.api.call("GET", "/host-groups")["items"]
    return next((group for group in groups if group["name"] == task.params["name"]), None)


def work(task):
    group = find(task)
    if task.params["state"] == "absent":
        if group:
            task.differs({"name": group["name"]}, {})
            task.change("DELETE", "/host-groups/%d" % group["id"], preview=True)
        return {}
    wanted = task.given("hosts", "for_new_users")
    wanted.update({field: value or None for field, value in task.given("lease", "profile").items()})
    wanted.update(hours_of(task))
    if not group:
        # The default of new users is a change of its own.
        is_default = wanted.pop("for_new_users", False)
        task.differs({}, dict(wanted, name=task.params["name"]))
        group = task.change("POST", "/host-groups", dict(wanted, name=task.params["name"]))
        wanted = {"for_new_users": True} if is_default else {}
        if group is None:
            return {}
    fields = changes(group, wanted)
    if fields:
        task.differs({field: group[field] for field in fields}, fields)
        task.change("PATCH", "/host-groups/%d" % group["id"], fields, preview=True)
    return {"host_group": task.afterwards(find, group)}


def main():
    Task(
        dict(
            name=dict(type="str", required=True),
            state=dict(type="str", choices=["present", "absent"], default="present"),
            hosts=dict(type="list", elements="str"),
            lease=dict(type="str"),
            hours=dict(type="dict"),
            profile=dict(type="str"),
            for_new_users=dict(type="bool"),
        )
    ).run(work)


if __name__ == "__main__":
    main()
