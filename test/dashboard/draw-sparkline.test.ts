import { expect, test } from "bun:test";
import { drawSparkline } from "../../src/dashboard/lib/draw-sparkline.ts";

test("the highest value is at the top, zero at the bottom, and the area reaches down to the edge", () => {
  expect(drawSparkline([0, 10, 5])).toEqual({
    line: "M0.00 29.00L50.00 3.00L100.00 16.00",
    area: "M0.00 29.00L50.00 3.00L100.00 16.00L100.00 30L0.00 30Z",
  });
});

test("a time without a figure is a gap and not a zero, and a figure between two gaps is a dot", () => {
  const { line, area } = drawSparkline([4, 2, null, 4, null]);
  expect(line).toBe("M0.00 3.00L25.00 16.00M75.00 3.00L75.00 3.00");
  expect(area).toBe("M0.00 3.00L25.00 16.00L25.00 30L0.00 30ZM75.00 3.00L75.00 3.00L75.00 30L75.00 30Z");
});

test("a course of zeros is a line at the bottom, and one without any figure is empty", () => {
  expect(drawSparkline([0, 0]).line).toBe("M0.00 29.00L100.00 29.00");
  expect(drawSparkline([null, null])).toEqual({ line: "", area: "" });
});
