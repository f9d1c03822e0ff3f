"""The API of uam: one request at a time, with its sentences as Ansible's errors; and what the modules have in common."""

import json
import re
from datetime import datetime
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode

from ansible.module_utils.basic import AnsibleModule, env_fallback
from ansible.module_utils.urls import open_url

ROOT = "/api/v1"
PAGE = 100
SECONDS = 60
# The option that names what a module is about.
NAMES = ("name", "user", "key", "endpoint")


class Refused(Exception):
    """What the service, or the way to it, said; the message is a sentence."""

    def __init__(self, message, status=None, reason=None):
        super().__init__(message)
        self.status = status
        self.reason = reason


class Api:
    """Requests to one service with one token. Each method raises Refused."""

    def __init__(self, url, token, ca_path=None):
        self.root = url.rstrip("/") + ROOT
        self.is_possible = re.match(r"[\x21-\x7e]+\Z", token)
        self.headers = {"Authorization": "Bearer " + token, "Accept": "application/json"}
        self.ca_path = ca_path

    def call(self, method, path, body=None, query=None):
        """The data of the answer."""
        # What refuses such a header would quote it.
        if not self.is_possible:
            raise Refused("The token has a character that no token has, such as a space or the end of a line")
        address = self.root + path + ("?" + urlencode(query) if query else "")
        headers = dict(self.headers)
        data = None
        if body is not None:
            data = json.dumps(body)
            headers["Content-Type"] = "application/json"
        try:
            answer = open_url(
                address, method=method, data=data, headers=headers, ca_path=self.ca_path, timeout=SECONDS,
                follow_redirects="none",
            )
            return json.loads(answer.read())["data"]
        except HTTPError as error:
            raise _refused(method, path, error) from error
        except (URLError, OSError, ValueError, KeyError) as error:
            raise Refused("%s %s: %s%s" % (method, address, error, _advice(error))) from error

    def all(self, path, query=None):
        """Each item of a list, page after page."""
        page = 1
        while True:
            answer = self.call("GET", path, query=dict(query or {}, page=page, page_size=PAGE))
            yield from answer["items"]
            if page * PAGE >= answer["total"]:
                return
            page += 1

    def named(self, path, name, field="name", **query):
        """The item whose field is that name, or None."""
        return next((item for item in self.all(path, query) if item[field] == name), None)


class NewService:
    """A service that is not there yet, in check mode: it has nothing."""

    def call(self, *_, **__):
        return {"items": [], "total": 0}

    def all(self, *_):
        return iter(())

    def named(self, *_, **__):
        return None


def _refused(method, path, error):
    reason = error.headers.get("uam-error")
    try:
        return Refused(json.loads(error.read())["error"], error.code, reason)
    except (ValueError, KeyError, TypeError):
        return Refused("%s %s answered %s" % (method, path, error.code), error.code, reason)


def _advice(error):
    if "CERTIFICATE_VERIFY_FAILED" not in str(error):
        return ""
    return ". If an authority of your own signed the certificate, ca_path has to name a file of it"


def segment(value):
    """A value as a part of a path."""
    return quote(str(value), safe="")


def same(one, other):
    """Whether two values are the same to the service: moments by their time, networks and names in any order."""
    if isinstance(one, str) and isinstance(other, str) and one != other:
        try:
            return _moment(one) == _moment(other)
        except ValueError:
            return False
    if isinstance(one, list) and isinstance(other, list) and all(isinstance(each, str) for each in one + other):
        return sorted(one) == sorted(other)
    return one == other


def _moment(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def changes(record, wanted):
    """The wanted fields that the record has not."""
    return {field: value for field, value in wanted.items() if not same(record.get(field), value)}


def hours_of(task):
    """The task's hours as the API wants them: no windows are none."""
    return {field: hours if hours.get("windows") else None for field, hours in task.given("hours").items()}


class Task:
    """One run of a module: asks for what is, changes what differs, and tells Ansible."""

    def __init__(self, options, **more):
        common = dict(
            url=dict(type="str", fallback=(env_fallback, ["UAM_URL"])),
            token=dict(type="str", no_log=True, fallback=(env_fallback, ["UAM_TOKEN"])),
            ca_path=dict(type="path"),
        )
        self.module = AnsibleModule(argument_spec=dict(common, **options), supports_check_mode=True, **more)
        self.params = self.module.params
        self.is_new = self.module.check_mode and self.params["token"] == ""
        for name in ("url", "token"):
            if not self.params[name] and not self.is_new:
                self.module.fail_json(msg="%s is missing: the option, or the variable UAM_%s" % (name, name.upper()))
        if self.is_new:
            self.module.warn("There is no token yet: this is what a new service would be told")
        self.api = NewService() if self.is_new else Api(self.params["url"], self.params["token"], self.params["ca_path"])
        self.result = dict(changed=False)
        self.before = {}
        self.after = {}

    def given(self, *names):
        """The options of these names that the task has."""
        return {name: self.params[name] for name in names if self.params.get(name) is not None}

    def change(self, method, path, body=None, query=None, preview=False):
        """Makes a change; in check mode asks what it would do if the service can say that. The answer's data, in check mode the preview or None."""
        answer = None
        if not self.module.check_mode:
            answer = self.api.call(method, path, body, query)
        elif preview:
            answer = self.preview(method, path, body, query)
        self.result["changed"] = True
        return answer

    def preview(self, method, path, body, query):
        """What the service says that the change would do. What is missing yet may be what a task before this one would make."""
        try:
            answer = self.api.call(method, path, body, dict(query or {}, preview="true"))
        except Refused as refused:
            if not (refused.reason or "").endswith(".missing"):
                raise
            self.module.warn("Now this would be refused: %s" % refused)
            return None
        self.result.setdefault("preview", []).append(answer)
        return answer

    def missing(self, sentence):
        """Refuses what is about something that is not there. In check mode a task before this one may be what would make it."""
        if not self.module.check_mode:
            raise Refused(sentence)
        self.module.warn("Now this would be refused: %s" % sentence)
        self.result["changed"] = True
        return {}

    def differs(self, before, after):
        """Notes what changes, by the names of the options, for --diff."""
        self.before.update(before)
        self.after.update(after)

    def difference(self):
        """What --diff shows: the fields that change, and below them what a preview says to people."""
        about = "%s %s" % (self.module._name.split(".")[-1], next(self.params[name] for name in NAMES if name in self.params))
        fields = dict(before_header=about, after_header=about, before=self.before, after=self.after)
        effects = [effect for preview in self.result.get("preview", []) for effect in preview["effects"]]
        return [fields, dict(prepared="\n".join(effects + ["", ""]))] if effects else [fields]

    def afterwards(self, find, before):
        """What there is now: asked for anew if something was changed, and as it was before otherwise."""
        return find(self) if self.result["changed"] and not self.module.check_mode else before

    def run(self, work):
        """Does the work, which returns more results, and ends the module."""
        try:
            self.result.update(work(self) or {})
        except Refused as refused:
            self.module.fail_json(msg=str(refused), status=refused.status, reason=refused.reason, **self.result)
        if self.module._diff and self.result["changed"]:
            self.result["diff"] = self.difference()
        self.module.exit_json(**self.result)
