#!/usr/bin/python
"""Webhooks of uam."""

from __future__ import annotations

DOCUMENTATION = r"""
module: webhook
short_description: Where audit records of uam are delivered to
description:
  - Creates, changes and deletes webhooks.
extends_documentation_fragment: uam.uam.api
options:
  endpoint: {description: "The address that takes them, with https.", type: str, required: true}
  state: {description: C(disabled) keeps it and delivers nothing., choices: [present, disabled, absent], default: present, type: str}
  actions: {description: Which records; empty for all., type: list, elements: str}
"""

EXAMPLES = r"""
- uam.uam.webhook: {endpoint: "https://hooks.example.org/uam", actions: [user.disable]}
  register: hook
  no_log: true
"""

RETURN = r"""
secret: {description: "What deliveries are signed with: keep it.", type: str, returned: when the webhook is new}
webhook: {description: The webhook as the API lists it., type: dict, returned: when there is one}
"""

from ansible_collections.uam.uam.plugins.module_utils.api import Task, changes

STATUS = {"present": "active", "disabled": "disabled"}
STATES = {"active": "present", "disabled": "disabled"}


def find(task):
    return task.api.named("/webhooks", task.params["endpoint"], field="url")


def shown(fields):
    """The fields by the names of their options."""
    rest = {field: value for field, value in fields.items() if field != "status"}
    return dict(rest, state=STATES[fields["status"]]) if "status" in fields else rest


def work(task):
    webhook = find(task)
    state = task.params["state"]
    if state == "absent":
        if webhook:
            task.differs({"endpoint": webhook["url"]}, {})
            task.change("DELETE", "/webhooks/%d" % webhook["id"])
        return {}
    result = {}
    if not webhook:
        body = dict(task.given("actions"), url=task.params["endpoint"])
        task.differs({}, task.given("endpoint", "actions"))
        webhook = task.change("POST", "/webhooks", body)
        if webhook is None:
            return {}
        result["secret"] = webhook.pop("secret")
    fields = changes(webhook, dict(task.given("actions"), status=STATUS[state]))
    if fields:
        task.differs(shown({field: webhook[field] for field in fields}), shown(fields))
        task.change("PATCH", "/webhooks/%d" % webhook["id"], fields)
    return dict(result, webhook=find(task) or webhook)


def main():
    Task(
        dict(
            endpoint=dict(type="str", required=True),
            state=dict(type="str", choices=["present", "disabled", "absent"], default="present"),
            actions=dict(type="list", elements="str"),
        )
    ).run(work)


if __name__ == "__main__":
    main()
