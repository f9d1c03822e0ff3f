/** The pages of this area, as one file to load: where there is only one host, nobody does. */

export { Host } from "./host.tsx";
export { HostGroup } from "./host-group.tsx";
export { HostGroups } from "./host-groups.tsx";
export { Hosts } from "./hosts.tsx";
