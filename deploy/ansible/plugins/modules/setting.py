#!/usr/bin/python
"""Settings of uam."""

from __future__ import annotations

DOCUMENTATION = r"""
module: setting
short_description: Settings of uam
description:
  - Sets a setting of the service, or returns it to the configured default.
extends_documentation_fragment: uam.uam.api
options:
  key: {description: "The setting, as C(policy.default_ttl).", type: str, required: true}
  value: {description: Its value. Required unless C(state=absent)., type: str}
  state: {description: C(absent) returns to the configured default., choices: [present, absent], default: present, type: str}
"""

EXAMPLES = r"""
- uam.uam.setting: {key: policy.review_every, value: 90d}
"""

RETURN = r"""
setting: {description: The setting as it now stands., type: dict, returned: when it is known}
preview: {description: What the service says that the change would do., type: list, returned: in check mode}
"""

from ansible_collections.uam.uam.plugins.module_utils.api import Refused, Task, segment


def find(task):
    settings = task.api.call("GET", "/settings")["items"]
    return next((each for each in settings if each["key"] == task.params["key"]), None)


def work(task):
    setting = find(task)
    if not setting and task.is_new:
        task.differs({}, task.given("key", "value"))
        task.result["changed"] = True
        return {}
    if not setting:
        raise Refused("There is no setting %s" % task.params["key"])
    # A shorter value waits for a day: what was asked for is there already.
    coming = setting.get("pending", setting)["value"]
    if task.params["state"] == "absent":
        if setting["overridden"]:
            task.differs({"key": setting["key"], "value": coming}, {})
            task.change("DELETE", "/settings/" + segment(setting["key"]), preview=True)
    elif coming != task.params["value"]:
        body = task.given("key", "value")
        task.differs(dict(body, value=coming), body)
        task.change("PUT", "/settings", body, preview=True)
    return {"setting": task.afterwards(find, setting)}


def main():
    Task(
        dict(
            key=dict(type="str", required=True, no_log=False),
            value=dict(type="str"),
            state=dict(type="str", choices=["present", "absent"], default="present"),
        ),
        required_if=[("state", "present", ("value",))],
    ).run(work)


if __name__ == "__main__":
    main()
