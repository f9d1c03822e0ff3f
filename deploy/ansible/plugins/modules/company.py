#!/usr/bin/python
"""Companies of uam."""

from __future__ import annotations

DOCUMENTATION = r"""
module: company
short_description: Companies that users of uam come from
description:
  - Limits that are not given stay as they are. A narrower limit takes away what its users have beyond it.
  - A company that was ended is not resumed unless the task says C(state=active).
extends_documentation_fragment: uam.uam.api
options:
  name: {description: The company's name., type: str, required: true}
  state:
    description: C(ended) takes the access of all of its users away. C(active) resumes it, so that users can be given access again;
      C(present) leaves one that was ended so, with a warning.
    choices: [present, active, ended, absent]
    default: present
    type: str
  contract_end: {description: "The end of the contract, as an RFC 3339 time; empty for none.", type: str}
  max_users: {description: How many users it may have; 0 for any number., type: int}
  max_ttl_days: {description: How many days ahead a user's end may lie; 0 for any number., type: int}
  source_networks: {description: Within which its users' networks lie., type: list, elements: str}
  host_groups: {description: The groups of hosts that its users may have., type: list, elements: str}
  hours: {description: "The hours of the week of its users, as of M(uam.uam.user); no windows for always.", type: dict}
  sponsor_email: {description: Who answers for its users; empty for nobody., type: str}
"""

EXAMPLES = r"""
- name: Lindqvist's contract
  uam.uam.company:
    name: Lindqvist AB
    contract_end: "2027-06-30T22:00:00Z"
    max_users: 20
"""

RETURN = r"""
company: {description: The company as the API has it., type: dict, returned: when there is one}
preview: {description: What the service says that each change would do., type: list, returned: in check mode}
"""

from ansible_collections.uam.uam.plugins.module_utils.api import Task, changes, hours_of

FIELDS = ("source_networks", "host_groups", "sponsor_email")
# What stands for "no limit" in a playbook, where null means "not given".
CLEARED = {"contract_end": "", "max_users": 0, "max_ttl_days": 0}


def find(task):
    name = task.params["name"]
    return task.api.named("/companies", name, q=name)


def wanted_fields(task):
    cleared = {field: value or None for field, value in task.given(*CLEARED).items()}
    return dict(task.given(*FIELDS), **cleared, **hours_of(task))


def work(task):
    company = find(task)
    state = task.params["state"]
    if state == "absent":
        if company:
            task.differs({"name": company["name"]}, {})
            task.change("DELETE", "/companies/%d" % company["id"])
        return {}
    if not company:
        if state == "ended":
            return task.missing("There is no company %s to end" % task.params["name"])
        body = dict(wanted_fields(task), name=task.params["name"])
        task.differs({}, body)
        made = task.change("POST", "/companies", body)
        return {"company": made} if made else {}
    path = "/companies/%d" % company["id"]
    fields = changes(company, wanted_fields(task))
    if fields:
        task.differs({field: company[field] for field in fields}, fields)
        task.change("PATCH", path, fields, preview=True)
    if state == "ended" and company["status"] == "active":
        task.differs({"state": "active"}, {"state": "ended"})
        task.change("POST", path + "/end", preview=True)
    if state == "active" and company["status"] != "active":
        task.differs({"state": company["status"]}, {"state": "active"})
        task.change("POST", path + "/resume")
    if state == "present" and company["status"] != "active":
        task.module.warn("%s was ended and stays so, because only state: active resumes a company" % company["name"])
    return {"company": task.afterwards(find, company)}


def main():
    Task(
        dict(
            name=dict(type="str", required=True),
            state=dict(type="str", choices=["present", "active", "ended", "absent"], default="present"),
            contract_end=dict(type="str"),
            max_users=dict(type="int"),
            max_ttl_days=dict(type="int"),
            source_networks=dict(type="list", elements="str"),
            host_groups=dict(type="list", elements="str"),
            hours=dict(type="dict"),
            sponsor_email=dict(type="str"),
        )
    ).run(work)


if __name__ == "__main__":
    main()
