#!/usr/bin/python
"""Users of uam."""

from __future__ import annotations

DOCUMENTATION = r"""
module: user
short_description: External users of uam
description:
  - Creates, changes, disables, enables and deletes users, and moves their ends.
  - Nobody who is disabled is let in again unless the task says C(state=enabled). Somebody may have disabled them since.
  - A user who is deleted loses account and home directory; the name stays taken until it is recycled.
extends_documentation_fragment: uam.uam.api
options:
  name:
    description: The username, without C(ext_).
    type: str
    required: true
  state:
    description: C(present) leaves a user who is disabled so, with a warning; C(enabled) lets them in again.
    choices: [present, enabled, disabled, absent]
    default: present
    type: str
  email: {description: The address for codes. Required for a new user., type: str}
  full_name: {description: The person's name., type: str}
  supervisor: {description: Who is responsible for them., type: str}
  purpose: {description: What the access is for., type: str}
  note: {description: For administrators only., type: str}
  sponsor_email: {description: Who answers for them inside; empty for nobody., type: str}
  company: {description: The name of their company; empty for none., type: str}
  manager: {description: Whether they are a manager of their company., type: bool}
  source_networks:
    description: From where keys work, as CIDRs; empty for anywhere.
    type: list
    elements: str
  profile: {description: What their accounts may do; empty for anything., type: str}
  starts_at: {description: "When the access of a new user begins, as an RFC 3339 time. Changes nobody else.", type: str}
  hours:
    description: Hours of the week, as the API has them, with C(zone) and C(windows); no windows for always.
    type: dict
  hours_end: {description: "What ends with the hours.", choices: [sessions, logins], type: str}
  on_request:
    description: Whom they ask for access each time, as the API has it, with C(rule) and C(max_hours); empty for nobody.
    type: dict
  ttl_days: {description: Days until the end of a new user. Changes nobody else., type: int}
  expire_at: {description: "The end, as an RFC 3339 time: earlier or later than it was.", type: str}
  reason: {description: "Why, for the record of disabling, enabling, deleting and of a new end.", type: str}
"""

EXAMPLES = r"""
- name: Jensen may come until Christmas
  uam.uam.user:
    name: jensen
    email: jensen@example.org
    company: Lindqvist AB
    expire_at: "2026-12-24T17:00:00Z"

- name: Noor leaves
  uam.uam.user:
    name: noor
    state: disabled
    reason: The project is over

- name: Noor comes back, which needs saying only until it is done
  uam.uam.user:
    name: noor
    state: enabled
    reason: The project goes on
"""

RETURN = r"""
user:
  description: The user, as the API has it; after a deletion and in check mode, as it was.
  type: dict
  returned: when there is one
preview:
  description: What the service says that each change would do.
  type: list
  returned: in check mode
"""

from ansible_collections.uam.uam.plugins.module_utils.api import Refused, Task, changes, hours_of, same

FIELDS = ("email", "full_name", "supervisor", "purpose", "note", "sponsor_email", "manager", "source_networks", "hours_end")
CLEARED = ("profile", "on_request")
STATES = {"active": "enabled"}


def find(task):
    name = task.params["name"]
    listed = task.api.named("/users", name, field="username", q=name)
    return listed and task.api.call("GET", "/users/%d" % listed["id"])


def wanted_fields(task):
    wanted = dict(task.given(*FIELDS), **hours_of(task))
    wanted.update({field: value or None for field, value in task.given(*CLEARED).items()})
    company = task.params["company"]
    if company is not None:
        found = task.api.named("/companies", company, q=company) if company else None
        # In check mode a task before this one may be what would make it.
        if company and not found and not task.module.check_mode:
            raise Refused("There is no company %s" % company)
        wanted["company_id"] = found["id"] if found else company or None
    return wanted


def shown(fields, company):
    """The fields by the names of their options."""
    rest = {field: value for field, value in fields.items() if field != "company_id"}
    return dict(rest, company=company) if "company_id" in fields else rest


def create(task, wanted):
    moments = task.given("ttl_days", "starts_at", "expire_at")
    body = dict(wanted, username=task.params["name"], **moments)
    task.differs({}, dict(shown(wanted, task.params["company"]), name=task.params["name"], **moments))
    made = task.change("POST", "/users", body)
    return made and task.api.call("GET", "/users/%d" % made["id"])


def update(task, user, wanted):
    path = "/users/%d" % user["id"]
    reason = task.given("reason")
    fields = changes(user, wanted)
    company = task.api.call("GET", "/companies/%d" % user["company_id"])["name"] if fields and user["company_id"] else None
    task.differs(shown({field: user.get(field) for field in fields}, company), shown(fields, task.params["company"]))
    # The service takes networks in a request of their own.
    networks = {field: fields.pop(field) for field in list(fields) if field == "source_networks"}
    for each in (networks, fields):
        if each:
            # The name of a company that is not there yet is no number.
            task.change("PATCH", path, each, preview=not isinstance(each.get("company_id"), str))
    until = task.params["expire_at"]
    if until is not None and not same(user["expire_at"], until):
        task.differs({"expire_at": user["expire_at"]}, {"expire_at": until})
        task.change("POST", path + "/extend", dict(reason, until=until), preview=True)
    # An expired one who was disabled, too, is so again with a later end.
    if task.afterwards(find, user)["status"] != "disabled":
        return
    if task.params["state"] == "enabled":
        task.differs({"state": "disabled"}, {"state": "enabled"})
        task.change("POST", path + "/enable", reason, preview=True)
    else:
        sentence = "%s is disabled and stays so, because only state: enabled lets somebody in again"
        task.module.warn(sentence % user["username"])


def disable(task, user):
    if user["status"] != "active":
        return
    task.differs({"state": "enabled"}, {"state": "disabled"})
    task.change("POST", "/users/%d/disable" % user["id"], task.given("reason"), preview=True)


def work(task):
    user = find(task)
    state = task.params["state"]
    if state == "absent":
        if user:
            status = user["status"]
            task.differs({"name": user["username"], "state": STATES.get(status, status)}, {})
            task.change("DELETE", "/users/%d" % user["id"], query=task.given("reason"), preview=True)
        return {"user": user} if user else {}
    if not user:
        if state == "disabled":
            return task.missing("There is no user %s to disable" % task.params["name"])
        made = create(task, wanted_fields(task))
        return {"user": made} if made else {}
    if state == "disabled":
        disable(task, user)
    else:
        update(task, user, wanted_fields(task))
    return {"user": task.afterwards(find, user)}


def main():
    Task(
        dict(
            name=dict(type="str", required=True),
            state=dict(type="str", choices=["present", "enabled", "disabled", "absent"], default="present"),
            email=dict(type="str"),
            full_name=dict(type="str"),
            supervisor=dict(type="str"),
            purpose=dict(type="str"),
            note=dict(type="str"),
            sponsor_email=dict(type="str"),
            company=dict(type="str"),
            manager=dict(type="bool"),
            source_networks=dict(type="list", elements="str"),
            profile=dict(type="str"),
            starts_at=dict(type="str"),
            hours=dict(type="dict"),
            hours_end=dict(type="str", choices=["sessions", "logins"]),
            on_request=dict(type="dict"),
            ttl_days=dict(type="int"),
            expire_at=dict(type="str"),
            reason=dict(type="str"),
        ),
        mutually_exclusive=[("ttl_days", "expire_at")],
    ).run(work)


if __name__ == "__main__":
    main()
