"""Prints each result as a line of JSON, with its host and task, and at the end the counts."""

import json

from ansible.plugins.callback import CallbackBase

DOCUMENTATION = """
name: results
type: stdout
short_description: each result as a line of JSON
"""


class CallbackModule(CallbackBase):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "stdout"
    CALLBACK_NAME = "results"

    def v2_runner_on_ok(self, result, **more):
        about = dict(more, _host=result._host.name, _task=result._task.get_name())
        print(json.dumps(dict(result._result, **about), default=str))

    def v2_runner_on_failed(self, result, ignore_errors=False):
        # What must not be logged does not even say that it failed.
        self.v2_runner_on_ok(result, failed=not ignore_errors)

    def v2_runner_on_unreachable(self, result):
        self.v2_runner_on_ok(result)

    def v2_playbook_on_stats(self, stats):
        counts = {host: stats.summarize(host) for host in stats.processed}
        print(json.dumps(dict(changed=sum(count["changed"] for count in counts.values()), hosts=counts)))
