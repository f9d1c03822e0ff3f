/** Both dialogs, as one file to load. */

export { KeysDialog } from "./keys-dialog.tsx";
export { Palette } from "./palette.tsx";
