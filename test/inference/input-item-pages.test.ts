// The pages of the input items of a response that the gateway stores.

import { describe, expect, test } from "bun:test";
import { toItemList } from "../../src/inference/responses/responses.ts";
import { problemsOf } from "../support/thrown.ts";

const list = (count: number, query: Record<string, string>) => {
  const items = Array.from({ length: count }, (_, index) => ({ id: `item_${index}` }));
  const { data, ...rest } = toItemList(items, new URLSearchParams(query));
  return { ids: data.map(({ id }) => Number(String(id).slice("item_".length))), ...rest };
};

describe("a page of input items", () => {
  test.each([
    ["begins with the newest", {}, [2, 1, 0], false],
    ["begins with the oldest if the client asks for that", { order: "asc" }, [0, 1, 2], false],
    ["has as many items as the client asks for", { order: "asc", limit: "2" }, [0, 1], true],
    ["that is exactly full is the last one", { order: "asc", limit: "3" }, [0, 1, 2], false],
    ["begins after the first item", { order: "asc", after: "item_0" }, [1, 2], false],
    ["begins after an item, in the order that the client asks for", { after: "item_1" }, [0], false],
    ["after the last item is empty", { order: "asc", after: "item_2" }, [], false],
    ["after an item may be followed by others", { order: "asc", after: "item_0", limit: "1" }, [1], true],
  ] as const)("%s", (_title, query, ids, hasMore) => {
    const [first, last] = [ids.at(0), ids.at(-1)];
    expect(list(3, query)).toEqual({
      ...{ object: "list", ids: [...ids], has_more: hasMore },
      first_id: first === undefined ? null : `item_${first}`,
      last_id: last === undefined ? null : `item_${last}`,
    });
  });

  test("has twenty items unless the client says otherwise", () => {
    expect(list(21, { order: "asc" })).toMatchObject({
      ids: Array.from({ length: 20 }, (_, id) => id),
      has_more: true,
    });
  });

  test("after an item that is not there is refused", () => {
    expect(problemsOf(() => list(3, { after: "item_9" }))[0]?.loc).toEqual(["query", "after"]);
  });
});
