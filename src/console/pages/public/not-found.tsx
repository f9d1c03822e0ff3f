/** An address without a page. */

import { PAGES } from "../../../shared/product/pages.ts";
import { common } from "../../texts/common.ts";
import { Page } from "../../ui/page.tsx";

export function NotFound() {
  const { notFound } = common;
  return (
    <Page title={notFound.title}>
      <p>{notFound.text}</p>
      <p>
        <a href={PAGES.home}>{notFound.home}</a>
      </p>
    </Page>
  );
}
