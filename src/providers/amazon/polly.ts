import { textOf } from "../shapes/inputs.ts";
import { hasProsody, prosodyOf, signed, toDecibel, toSsml } from "../shapes/prosody.ts";
import { formatOf, toSpeech, voiceOf } from "../shapes/speech.ts";
import type { TaskCall } from "../task.ts";
import { type ProviderTask, refuseInput } from "../task.ts";

const formats: Readonly<Record<string, readonly [format: string, mediaType: string]>> = {
  mp3: ["mp3", "audio/mpeg"],
  ogg: ["ogg_vorbis", "audio/ogg"],
  ogg_vorbis: ["ogg_vorbis", "audio/ogg"],
  opus: ["ogg_opus", "audio/ogg"],
  ogg_opus: ["ogg_opus", "audio/ogg"],
  pcm: ["pcm", "audio/pcm"],
};

export const speak: ProviderTask = {
  task: "audio/tts",
  docs: "https://docs.aws.amazon.com/polly/latest/dg/API_SynthesizeSpeech.html",
  service: "polly",
  models: ["standard", "neural", "long-form", "generative"],
  acceptsAnyModel: true,
  toRequest: (call) => ({
    path: "/v1/speech",
    headers: { accept: "*/*" },
    body: {
      kind: "json",
      value: {
        Engine: call.model ?? "standard",
        OutputFormat: formatOf(call, formats)[0],
        // Has a standard and a neural form.
        VoiceId: voiceOf(call) ?? "Joanna",
        ...toText(call),
      },
    },
  }),
  fromResponse: (answer, call) => toSpeech(answer, call, formatOf(call, formats)[1]),
};

function toText(call: TaskCall): { readonly Text: string; readonly TextType: "text" | "ssml" } {
  const prosody = prosodyOf(call);
  if (!hasProsody(prosody)) return { Text: textOf(call), TextType: "text" };
  if (prosody.pitch !== null && call.model !== null && call.model !== "standard")
    refuseInput("speaking_pitch", "Only the standard voices of this provider change their pitch");
  if (prosody.speed !== null && (prosody.speed < 0.2 || prosody.speed > 2))
    refuseInput("speed", "This provider speaks at 0.2 to 2 times the usual speed");
  const inner = toSsml(textOf(call), prosody, (percent) => `${signed(toDecibel(percent))}dB`);
  return { Text: `<speak>${inner}</speak>`, TextType: "ssml" };
}
