"""The options that every module of the collection has."""


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  url:
    description: The service, as C(UAM_BASE_URL) names it. By default the variable C(UAM_URL).
    type: str
  token:
    description: A token of the service (C(uam token create)). By default the variable C(UAM_TOKEN). In check mode an empty one
      stands for a service that is not there yet.
    type: str
  ca_path:
    description: A file of certificates to trust besides the system's.
    type: path
attributes:
  check_mode:
    support: full
    description: Asks the service for a preview where it has one, and changes nothing.
  diff_mode:
    support: full
    description: Says each field that changes.
"""
