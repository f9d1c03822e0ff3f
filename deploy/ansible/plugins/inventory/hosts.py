"""An inventory of the hosts that uam manages."""

from __future__ import annotations

DOCUMENTATION = r"""
name: hosts
short_description: The hosts of uam, with its groups
description:
  - Reads C(/hosts). The file's name ends with C(uam.yml) or C(uam.yaml).
options:
  plugin: {description: The name of this plugin., required: true, choices: [uam.uam.hosts]}
  url: {description: The service., env: [{name: UAM_URL}], type: str, required: true}
  token: {description: A token with the role operator., env: [{name: UAM_TOKEN}], type: str, required: true}
  ca_path: {description: A file of certificates to trust besides the system's., type: path}
"""

EXAMPLES = r"""
plugin: uam.uam.hosts
url: https://uam.example.org
"""

from ansible.errors import AnsibleParserError
from ansible.plugins.inventory import BaseInventoryPlugin
from ansible_collections.uam.uam.plugins.module_utils.api import Api, Refused


class InventoryModule(BaseInventoryPlugin):
    NAME = "uam.uam.hosts"

    def verify_file(self, path):
        return super().verify_file(path) and path.endswith(("uam.yml", "uam.yaml"))

    def parse(self, inventory, loader, path, cache=True):
        super().parse(inventory, loader, path, cache)
        self._read_config_data(path)
        api = Api(self.get_option("url"), self.get_option("token"), self.get_option("ca_path"))
        try:
            hosts = list(api.all("/hosts"))
        except Refused as refused:
            raise AnsibleParserError(str(refused)) from refused
        for host in hosts:
            name = host["name"]
            inventory.add_host(name)
            if host["ssh_host"]:
                inventory.set_variable(name, "ansible_host", host["ssh_host"])
                inventory.set_variable(name, "ansible_port", host["ssh_port"])
            inventory.set_variable(name, "uam_host", host)
            for group in host["groups"]:
                # Ansible's groups have neither dots nor hyphens.
                inventory.add_host(name, inventory.add_group("uam_" + group.replace("-", "_").replace(".", "_")))
