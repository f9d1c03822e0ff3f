#!/usr/bin/python
"""Lines that join hosts to uam."""

from __future__ import annotations

DOCUMENTATION = r"""
module: host_token
short_description: The line that joins a host to uam
description:
  - Makes nothing for a host that has joined. The line works once, within 30 minutes, and whoever has it can add a host.
extends_documentation_fragment: uam.uam.api
options:
  name: {description: The host's name in uam., type: str, required: true}
  group: {description: The group that it joins., type: str}
"""

EXAMPLES = r"""
- uam.uam.host_token: {name: web1, group: web}
  register: join
  no_log: true
"""

RETURN = r"""
line: {description: The argument of C(uam agent join)., type: str, returned: when the host has not joined}
host: {description: The host as the API has it., type: dict, returned: when it has joined}
"""

from ansible_collections.uam.uam.plugins.module_utils.api import Task


def work(task):
    name = task.params["name"]
    host = task.api.named("/hosts", name, q=name)
    if host:
        return {"host": host}
    body = task.given("name", "group")
    task.differs({}, body)
    made = task.change("POST", "/hosts/tokens", body)
    return {"line": made["line"]} if made else {}


def main():
    Task(dict(name=dict(type="str", required=True), group=dict(type="str"))).run(work)


if __name__ == "__main__":
    main()
