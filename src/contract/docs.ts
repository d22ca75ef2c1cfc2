// The documentation site.

import { z } from "zod";

export const docsPageParams = z.object({
  page: z.string().describe("The path of the page, such as `routing` or `api/chat`. It may contain slashes."),
});
