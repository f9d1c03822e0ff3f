#!/usr/bin/python
"""Tokens of uam."""

from __future__ import annotations

DOCUMENTATION = r"""
module: token
short_description: Tokens for machines
description:
  - A token that is in force under that name stays. A new one is shown once, in C(token_value).
extends_documentation_fragment: uam.uam.api
options:
  name: {description: Its purpose; records name it as the actor., type: str, required: true}
  state: {description: C(absent) revokes each of that name., choices: [present, absent], default: present, type: str}
  role: {description: What it may do. Required for a new one., type: str}
  days: {description: Days until a new one ends., type: int, default: 90}
  networks: {description: "From where it may be used, as CIDRs.", type: list, elements: str}
"""

EXAMPLES = r"""
- name: The report's token
  uam.uam.token: {name: nightly report, role: auditor, networks: [192.0.2.0/24]}
  register: report
  no_log: true

- name: Its file, as long as it can be had
  ansible.builtin.copy:
    content: "{{ report.token_value }}"
    dest: /root/nightly-report.token
    mode: "0600"
  no_log: true
  when: report.token_value is defined
"""

RETURN = r"""
token_value: {description: "The token itself: keep it.", type: str, returned: when it is new}
record: {description: What the API lists of it., type: dict, returned: when there is one}
"""

from ansible_collections.uam.uam.plugins.module_utils.api import Task


def work(task):
    name = task.params["name"]
    present = [token for token in task.api.all("/tokens") if token["name"] == name and token["status"] == "active"]
    if task.params["state"] == "absent":
        for token in present:
            task.differs({"name": name}, {})
            task.change("DELETE", "/tokens/%d" % token["id"])
        return {}
    if present:
        return {"record": present[0]}
    body = task.given("name", "role", "days", "networks")
    task.differs({}, body)
    made = task.change("POST", "/tokens", body)
    if made is None:
        return {}
    value = made.pop("token")
    return {"token_value": value, "record": made}


def main():
    Task(
        dict(
            name=dict(type="str", required=True),
            state=dict(type="str", choices=["present", "absent"], default="present"),
            role=dict(type="str"),
            days=dict(type="int", default=90),
            networks=dict(type="list", elements="str"),
        )
    ).run(work)


if __name__ == "__main__":
    main()
