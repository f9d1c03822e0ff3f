"""Prints each result as a line of JSON, and at the end the counts."""

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

    def v2_runner_on_ok(self, result):
        print(json.dumps(result._result, default=str))

    def v2_runner_on_failed(self, result, ignore_errors=False):
        print(json.dumps(result._result, default=str))

    def v2_playbook_on_stats(self, stats):
        print(json.dumps(stats.summarize("localhost")))
