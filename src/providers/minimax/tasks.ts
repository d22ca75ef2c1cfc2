import { asNumber, asText, at } from "../lenient.ts";
import { dataUrlOf, refuseMembers, textOf } from "../shapes/inputs.ts";
import { dimensionOf, secondsOf, toVideo } from "../shapes/video.ts";
import { type ProviderTask, TaskFailure } from "../task.ts";

const usualModel = "MiniMax-Hailuo-02";

const generateVideo: ProviderTask = {
  task: "video/generation_async",
  docs: "https://platform.minimax.io/docs/api-reference/video-generation-t2v",
  models: [usualModel, "MiniMax-Hailuo-2.3", "S2V-01"],
  acceptsAnyModel: true,
  files: { mediaTypes: ["image/jpeg", "image/png", "image/webp"] },
  toRequest: async (call) => {
    refuseMembers(call, ["seed"]);
    const seconds = secondsOf(call);
    const resolution = dimensionOf(call, { "1280x720": "720P", "1366x768": "768P", "1920x1080": "1080P" });
    const { file } = call.files;
    return {
      path: "/video_generation",
      body: {
        kind: "json",
        value: {
          model: call.model ?? usualModel,
          prompt: textOf(call),
          ...(file !== undefined && { first_frame_image: await dataUrlOf(file) }),
          ...(seconds !== null && { duration: seconds }),
          ...(resolution !== null && { resolution }),
        },
      },
    };
  },
  next(answer, _call, asked) {
    if (asked.url !== undefined) return null;
    const { json } = answer;
    throwIfFailed(json);
    if (asked.path === "/files/retrieve") {
      const url = asText(at(json, "file", "download_url"));
      if (url === null) throw new TypeError("the answer does not say where the video is");
      return { path: "/", url };
    }
    const status = at(json, "status");
    if (status === "Fail") throw new TaskFailure(400, "no video was made");
    if (status === "Success")
      return { method: "GET", path: "/files/retrieve", query: { file_id: toId(at(json, "file_id")) } };
    if (asked.method === "GET") return { ...asked, waitMs: "growing" };
    const query = { task_id: toId(at(json, "task_id")) };
    return { method: "GET", path: "/query/video_generation", query, waitMs: "growing" };
  },
  fromResponse: ({ bytes }, call) => toVideo(bytes, "video/mp4", secondsOf(call)),
};

function toId(id: unknown): string {
  if (typeof id !== "string" && typeof id !== "number") throw new TypeError("there is no id in the answer");
  return String(id);
}

/** https://platform.minimax.io/docs/api-reference/errorcode */
const statuses: Readonly<Record<number, number>> = {
  1001: 504,
  1002: 429,
  1004: 401,
  1008: 402,
  1026: 400,
  1027: 400,
  1039: 429,
  1041: 429,
  1042: 400,
  2013: 400,
  2049: 401,
};

/** Every answer has status 200, and says inside whether it is one. */
function throwIfFailed(json: unknown): void {
  const code = asNumber(at(json, "base_resp", "status_code")) ?? 0;
  if (code === 0) return;
  throw new TaskFailure(statuses[code] ?? 502, asText(at(json, "base_resp", "status_msg")) ?? `code ${code}`);
}

export const tasks: readonly ProviderTask[] = [generateVideo];
