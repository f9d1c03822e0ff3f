/** Style sheets are bundled, not imported by anything that runs. */
declare module "*.css";
