#!/usr/bin/python
"""Profiles of uam."""

from __future__ import annotations

DOCUMENTATION = r"""
module: profile
short_description: What accounts of uam may do on hosts
description:
  - Name and kind of a profile stay what they are. Where it allows less, everything that is open of its accounts ends.
extends_documentation_fragment: uam.uam.api
options:
  name: {description: The profile's name., type: str, required: true}
  state: {description: C(absent) needs one that nobody has., choices: [present, absent], default: present, type: str}
  kind: {description: Required for a new one., choices: [shell, sftp, forward, command], type: str}
  directory: {description: "Of C(sftp): the path to which its accounts are confined.", type: str}
  read_only: {description: "Of C(sftp): whether files can only be read.", type: bool}
  umask: {description: "Of C(sftp): three octal digits; empty for what the host does by itself.", type: str}
  targets: {description: "Of C(forward): each C(host:port) that connections may lead to.", type: list, elements: str}
  forwarding: {description: "Of C(shell): C(true), C(false), or a list of C(host:port).", type: raw}
  command: {description: "Of C(command): the name of a program in C(/etc/uam-commands).", type: str}
  idle: {description: "After how long a silent session ends, as C(15m); empty for never.", type: str}
  max_sessions: {description: Sessions of one connection; 0 for what the host does by itself., type: int}
  second_factor: {description: "C(verified): only hardware keys, with touch and PIN.", choices: [none, verified], type: str}
  groups: {description: "Of C(shell): groups of the host.", type: list, elements: str}
  sudo: {description: "Of C(shell): names of templates in C(/etc/uam/sudo.d).", type: list, elements: str}
  banner: {description: The path of a file that is shown before a login; empty for none., type: str}
"""

EXAMPLES = r"""
- uam.uam.profile: {name: drop-box, kind: sftp, directory: /srv/drop, umask: "027"}
- uam.uam.profile: {name: to-db1, kind: forward, targets: ["db1.example.org:5432"]}
"""

RETURN = r"""
profile: {description: The profile as the API has it., type: dict, returned: when there is one}
preview: {description: What the service says that each change would do., type: list, returned: in check mode}
"""

from ansible.module_utils.parsing.convert_bool import boolean
from ansible_collections.uam.uam.plugins.module_utils.api import Refused, Task, changes

FIELDS = ("directory", "read_only", "targets", "command", "second_factor", "groups", "sudo")
# What stands for "nothing of its own" in a playbook, where null means "not given".
CLEARED = ("umask", "idle", "max_sessions", "banner")


def find(task):
    profiles = task.api.call("GET", "/profiles")["items"]
    return next((profile for profile in profiles if profile["name"] == task.params["name"]), None)


def wanted_fields(task):
    wanted = task.given(*FIELDS)
    wanted.update({field: value or None for field, value in task.given(*CLEARED).items()})
    forwarding = task.params["forwarding"]
    if forwarding is not None:
        wanted["forwarding"] = forwarding if isinstance(forwarding, list) else boolean(forwarding)
    return wanted


def work(task):
    profile = find(task)
    name, kind = task.params["name"], task.params["kind"]
    if task.params["state"] == "absent":
        if profile:
            task.differs({"name": name}, {})
            task.change("DELETE", "/profiles/%d" % profile["id"], preview=True)
        return {}
    wanted = wanted_fields(task)
    if not profile:
        if not kind:
            return task.missing("There is no profile %s yet: say its kind" % name)
        body = dict(wanted, name=name, kind=kind)
        task.differs({}, body)
        made = task.change("POST", "/profiles", body)
        return {"profile": made} if made else {}
    if kind and kind != profile["kind"]:
        raise Refused("The profile %s is of the kind %s, and stays it" % (name, profile["kind"]))
    fields = changes(profile, wanted)
    if fields:
        task.differs({field: profile[field] for field in fields}, fields)
        task.change("PATCH", "/profiles/%d" % profile["id"], fields, preview=True)
    return {"profile": task.afterwards(find, profile)}


def main():
    Task(
        dict(
            name=dict(type="str", required=True),
            state=dict(type="str", choices=["present", "absent"], default="present"),
            kind=dict(type="str", choices=["shell", "sftp", "forward", "command"]),
            directory=dict(type="str"),
            read_only=dict(type="bool"),
            umask=dict(type="str"),
            targets=dict(type="list", elements="str"),
            forwarding=dict(type="raw"),
            command=dict(type="str"),
            idle=dict(type="str"),
            max_sessions=dict(type="int"),
            second_factor=dict(type="str", choices=["none", "verified"]),
            groups=dict(type="list", elements="str"),
            sudo=dict(type="list", elements="str"),
            banner=dict(type="str"),
        )
    ).run(work)


if __name__ == "__main__":
    main()
